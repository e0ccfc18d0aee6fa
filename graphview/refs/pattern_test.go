package refs

import "testing"

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
