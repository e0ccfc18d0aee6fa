package rights

import (
	"testing"

	"graphview.dev/graphview"
)

var (
	pods       = graphview.Place{Resource: "pods"}
	podsRed    = graphview.Place{Resource: "pods", Namespace: "red"}
	podsBlue   = graphview.Place{Resource: "pods", Namespace: "blue"}
	secrets    = graphview.Place{Resource: "secrets"}
	secretsRed = graphview.Place{Resource: "secrets", Namespace: "red"}
)

func TestRightsAllowed(t *testing.T) {
	r := newRights(nil, answersOf(map[graphview.Place]bool{
		{Group: "apps", Resource: "deployments"}: true,
		pods:                                     false, podsRed: true, podsBlue: false,
		{Resource: "nodes"}:      false,
		{Resource: "namespaces"}: true,
		secretsRed:               true,
	}))
	for name, test := range map[string]struct {
		place                  graphview.Place
		wantAllowed, wantKnown bool
	}{
		"everywhere":                          {graphview.Place{Group: "apps", Resource: "deployments", Namespace: "red"}, true, true},
		"everywhere, asked of no namespace":   {graphview.Place{Group: "apps", Resource: "deployments"}, true, true},
		"the group counts":                    {graphview.Place{Resource: "deployments", Namespace: "red"}, false, false},
		"in this namespace":                   {podsRed, true, true},
		"not in this namespace":               {podsBlue, false, true},
		"not everywhere":                      {pods, false, true},
		"a namespace nobody asked about":      {graphview.Place{Resource: "pods", Namespace: "green"}, false, false},
		"cluster-scoped":                      {graphview.Place{Resource: "namespaces"}, true, true},
		"cluster-scoped, denied":              {graphview.Place{Resource: "nodes"}, false, true},
		"a resource nobody asked about":       {graphview.Place{Resource: "services", Namespace: "red"}, false, false},
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
	digest := func(answers map[graphview.Place]bool) string { return newRights(key, answersOf(answers)).Digest() }
	base := digest(map[graphview.Place]bool{pods: false, podsRed: true})
	if again := digest(map[graphview.Place]bool{podsRed: true, pods: false}); again != base {
		t.Errorf("%s and %s for the same answers", base, again)
	}
	for name, other := range map[string]string{
		"nothing asked":         digest(nil),
		"another answer":        digest(map[graphview.Place]bool{pods: false, podsRed: false}),
		"one denied place more": digest(map[graphview.Place]bool{pods: false, podsRed: true, podsBlue: false}),
		"one less":              digest(map[graphview.Place]bool{pods: false}),
		"another namespace":     digest(map[graphview.Place]bool{pods: false, podsBlue: true}),
		"another boundary":      digest(map[graphview.Place]bool{pods: false, {Resource: "podsr", Namespace: "ed"}: true}),
		"another key":           newRights([]byte("other"), answersOf(map[graphview.Place]bool{pods: false, podsRed: true})).Digest(),
	} {
		if other == base {
			t.Errorf("%s: the same digest", name)
		}
	}
}

func answersOf(all map[graphview.Place]bool) answers {
	known := answers{}
	for p, allowed := range all {
		known.set(p, allowed)
	}
	return known
}
