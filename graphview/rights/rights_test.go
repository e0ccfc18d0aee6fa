package rights

import (
	"testing"

	"graphview.dev/graphview/access"
)

var (
	pods       = access.Place{Resource: "pods"}
	podsRed    = access.Place{Resource: "pods", Namespace: "red"}
	podsBlue   = access.Place{Resource: "pods", Namespace: "blue"}
	secrets    = access.Place{Resource: "secrets"}
	secretsRed = access.Place{Resource: "secrets", Namespace: "red"}
)

func TestRightsAllowed(t *testing.T) {
	r := newRights(nil, answersOf(map[access.Place]bool{
		{Group: "apps", Resource: "deployments"}: true,
		pods:                                     false, podsRed: true, podsBlue: false,
		{Resource: "nodes"}:         false,
		{Resource: "namespaces"}:    true,
		secretsRed:                  true,
		{Group: "*", Resource: "*"}: false, {Group: "*", Resource: "*", Namespace: "all"}: true, {Group: "*", Resource: "*", Namespace: "blue"}: false,
	}))
	for name, test := range map[string]struct {
		place                  access.Place
		wantAllowed, wantKnown bool
	}{
		"everywhere":                          {access.Place{Group: "apps", Resource: "deployments", Namespace: "red"}, true, true},
		"everywhere, asked of no namespace":   {access.Place{Group: "apps", Resource: "deployments"}, true, true},
		"the group counts":                    {access.Place{Resource: "deployments", Namespace: "red"}, false, false},
		"in this namespace":                   {podsRed, true, true},
		"not in this namespace":               {podsBlue, false, true},
		"not everywhere":                      {pods, false, true},
		"a namespace nobody asked about":      {access.Place{Resource: "pods", Namespace: "green"}, false, false},
		"cluster-scoped":                      {access.Place{Resource: "namespaces"}, true, true},
		"cluster-scoped, denied":              {access.Place{Resource: "nodes"}, false, true},
		"a resource nobody asked about":       {access.Place{Resource: "services", Namespace: "red"}, false, false},
		"all of a namespace":                  {access.Place{Resource: "jobs", Namespace: "all"}, true, true},
		"all of a namespace, cluster-scoped":  {access.Place{Resource: "jobs"}, false, false},
		"a namespace without the whole of it": {secretsRed, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if allowed, known := r.Allowed(test.place); allowed != test.wantAllowed || known != test.wantKnown {
				t.Errorf("%t, %t", allowed, known)
			}
		})
	}
}

func TestRightsDigest(t *testing.T) {
	key := []byte("key")
	digest := func(answers map[access.Place]bool) string { return newRights(key, answersOf(answers)).Digest() }
	base := digest(map[access.Place]bool{pods: false, podsRed: true})
	if again := digest(map[access.Place]bool{podsRed: true, pods: false}); again != base {
		t.Errorf("%s and %s for the same answers", base, again)
	}
	for name, other := range map[string]string{
		"nothing asked":         digest(nil),
		"another answer":        digest(map[access.Place]bool{pods: false, podsRed: false}),
		"one denied place more": digest(map[access.Place]bool{pods: false, podsRed: true, podsBlue: false}),
		"one less":              digest(map[access.Place]bool{pods: false}),
		"another namespace":     digest(map[access.Place]bool{pods: false, podsBlue: true}),
		"another boundary":      digest(map[access.Place]bool{pods: false, {Resource: "podsr", Namespace: "ed"}: true}),
		"another key":           newRights([]byte("other"), answersOf(map[access.Place]bool{pods: false, podsRed: true})).Digest(),
	} {
		if other == base {
			t.Errorf("%s: the same digest", name)
		}
	}
}

func answersOf(all map[access.Place]bool) answers {
	known := answers{}
	for p, allowed := range all {
		known.set(p, allowed)
	}
	return known
}
