package expr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompared(t *testing.T) {
	tests := map[string]struct {
		text string
		want []Comparison
	}{
		"equal":           {"resource == 'pods'", []Comparison{{"resource", "pods"}}},
		"the other way":   {"'pods' == resource", []Comparison{{"resource", "pods"}}},
		"not equal":       {"!(kind != 'Pod')", []Comparison{{"kind", "Pod"}}},
		"a list":          {"group in ['', 'apps'] && name == 'web'", []Comparison{{"group", ""}, {"group", "apps"}, {"name", "web"}}},
		"namespace":       {"namespace == 'shop'", []Comparison{{"namespace", "shop"}}},
		"of the object":   {"obj.kind == 'Pod' && obj.metadata.name == 'web'", []Comparison{{"kind", "Pod"}}},
		"within a loop":   {"['a'].exists(x, version == 'v1' && x == 'a')", []Comparison{{"version", "v1"}, {"x", "a"}}},
		"no comparison":   {"resource.startsWith('pod') || labels.app == 'web'", nil},
		"another type":    {"obj.kind in ['Pod', 'Job']", []Comparison{{"kind", "Pod"}, {"kind", "Job"}}},
		"of what it is":   {"name == namespace", nil},
		"a conditional":   {"resource == (namespace == 'a' ? 'pods' : 'jobs')", []Comparison{{"namespace", "a"}}},
		"more than noted": {"name in [" + strings.TrimSuffix(strings.Repeat("'a',", 300), ",") + "]", slicesOf(Comparison{"name", "a"}, maxComparisons)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := CompileObject(t.Context(), nil, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, s.Compared()); diff != "" {
				t.Errorf("comparisons (-want +got):\n%s", diff)
			}
		})
	}
}

func slicesOf(c Comparison, n int) []Comparison {
	var out []Comparison
	for range n {
		out = append(out, c)
	}
	return out
}
