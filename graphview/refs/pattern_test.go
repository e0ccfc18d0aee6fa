package refs

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	const host = "{label}|{label}.{ns}.svc|{label}.{ns}.svc.{*}"
	for name, test := range map[string]struct {
		form, text, want string
	}{
		"ShortHost":         {host, "web", "/web"},
		"ServiceHost":       {host, "web.shop.svc", "shop/web"},
		"WholeHost":         {host, "web.shop.svc.cluster.local", "shop/web"},
		"HostElsewhere":     {host, "web.example.com", ""},
		"HostInDepth":       {host, "a.web.shop.svc", ""},
		"Wildcard":          {host, "*.shop.svc", ""},
		"Empty":             {host, "", ""},
		"Upper":             {host, "Web", ""},
		"Qualified":         {"{ns}/{name}|{name}", "shop/web.v1", "shop/web.v1"},
		"Unqualified":       {"{ns}/{name}|{name}", "web.v1", "/web.v1"},
		"NothingBeforeIt":   {"{ns}/{name}|{name}", "/web", ""},
		"TooManySlashes":    {"{ns}/{name}|{name}", "a/b/c", ""},
		"Account":           {"system:serviceaccount:{ns}:{name}", "system:serviceaccount:shop:web", "shop/web"},
		"Principal":         {"{*}/ns/{ns}/sa/{name}", "td/ns/shop/sa/web", "shop/web"},
		"PrincipalOfNobody": {"{*}/ns/{ns}/sa/{name}", "td/ns/shop/sa/", ""},
		"Template":          {"{name}", "${pvc.name}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			patterns, err := parsePatterns(test.form)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if c, ok := match(patterns, test.text); ok {
				got = c.namespace + "/" + c.name
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestMatchEachPlaces: what ends a capture is looked for, not tried byte by byte.
func TestMatchEachPlaces(t *testing.T) {
	const suffix = "@kubernetescrd"
	dashes := strings.Repeat("a-", 600)
	for name, test := range map[string]struct {
		form, text       string
		want, wantPlaces int
	}{
		"Qualified":   {"{ns}-{name}" + suffix, "shop-auth" + suffix, 1, 2},
		"ManyWays":    {"{ns}-{name}" + suffix, dashes[:201] + suffix, 32, 64},
		"TooLong":     {"{ns}-{name}" + suffix, dashes[:1000] + suffix, 0, 32},
		"OfAnother":   {"{ns}-{name}" + suffix, dashes[:301] + "@file", 0, 32},
		"Whole":       {"{name}|{ns}:{name}", dashes[:201], 1, 1},
		"LongestName": {"{name}", dashes[:253], 1, 1},
		"NoNameAtAll": {"{name}|{ns}:{name}", dashes[:254], 0, 0},
		"EveryPlace":  {"{*}{name}", dashes[:100], 100, 201},
		"TooManyWays": {"{*}{*}{name}", dashes[:1000], 138, maxPlaces},
	} {
		t.Run(name, func(t *testing.T) {
			patterns, err := parsePatterns(test.form)
			if err != nil {
				t.Fatal(err)
			}
			got, m := 0, matching{text: test.text, left: maxPlaces}
			for _, p := range patterns {
				p.each(&m, 0, captured{}, func(captured) bool {
					got++
					return true
				})
			}
			if places := maxPlaces - m.left; got != test.want || places != test.wantPlaces {
				t.Errorf("%d ways at %d places, want %d at %d", got, places, test.want, test.wantPlaces)
			}
		})
	}
}
