package advice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
)

func TestNearest(t *testing.T) {
	names := []string{"storefront", "storage", "back-office", "web", "wep"}
	for name, want := range map[string][]string{
		"storefrnt":  {"storefront"},
		"Storefrotn": {"storefront"},
		"storag":     {"storage"},
		"wb":         {"web"},
		"nothing":    {},
		"":           {},
	} {
		if diff := cmp.Diff(want, Nearest(name, names, 3)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"web":                 "'web'",
		"käse ✓":              "'käse ✓'",
		"\x1b[2J\r\nok\u009b": "'\uFFFD[2J\uFFFD\uFFFDok\uFFFD'",
		"right\u202eleft":     "'right\uFFFDleft'",
		"\xff":                "'\uFFFD'",
	} {
		if got := quoted(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzOf: whatever people write, advice ends and is short.
func FuzzOf(f *testing.F) {
	f.Add("resource", "deployments.apps")
	f.Add("group", "apps/v1")
	f.Add("kind", "\xff/List")
	served := []resources.Resource{{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}, {Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}
	f.Fuzz(func(t *testing.T, variable, text string) {
		compared := []Comparison{{variable, text}}
		a := Of(t.Context(), Spec{
			Queries: []Query{{Path: "q", Include: true, Compared: compared, Fate: Matchless}},
			Roots:   []Root{{Path: "r", Compared: compared}}, Served: served,
		})
		for _, finding := range a.WhileRootless() {
			if len(finding.Message) > 1000 {
				t.Errorf("%d bytes", len(finding.Message))
			}
		}
	})
}
