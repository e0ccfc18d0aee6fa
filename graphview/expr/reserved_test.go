package expr

import "testing"

func TestUnreserve(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"none":            {"name == 'a'", "name == 'a'"},
		"name":            {"namespace == 'a'", "__ns_var_ == 'a'"},
		"parts of words":  {"namespaced || mynamespace || namespace_", "namespaced || mynamespace || namespace_"},
		"field":           {"obj.metadata.namespace == obj.?namespace", "obj.metadata.namespace == obj.?namespace"},
		"spaced field":    {"obj . \n namespace", "obj . \n namespace"},
		"condition":       {"a ?namespace:namespace", "a ?__ns_var_:__ns_var_"},
		"optional index":  {"a[?namespace]", "a[?__ns_var_]"},
		"strings":         {`'namespace' + "namespace" + namespace`, `'namespace' + "namespace" + __ns_var_`},
		"escaped quote":   {`'\'namespace' + namespace`, `'\'namespace' + __ns_var_`},
		"raw string":      {`r'\' + namespace + "namespace"`, `r'\' + __ns_var_ + "namespace"`},
		"triple quotes":   {`'''a'namespace''' + namespace`, `'''a'namespace''' + __ns_var_`},
		"empty string":    {`'' + namespace + ''`, `'' + __ns_var_ + ''`},
		"prefix is word":  {`bar'namespace'`, `bar'namespace'`},
		"comment":         {"// namespace'\nnamespace", "// namespace'\n__ns_var_"},
		"last comment":    {"namespace // namespace", "__ns_var_ // namespace"},
		"unclosed string": {"'namespace", "'namespace"},
		"last backslash":  {`'namespace\`, `'namespace\`},
		"not ASCII":       {"'ä' + ä + namespace", "'ä' + ä + __ns_var_"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := unreserve(tc.text); got != tc.want {
				t.Errorf("unreserve(%q) = %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}
