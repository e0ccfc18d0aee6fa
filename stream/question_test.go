package stream

import "testing"

func TestQuestionString(t *testing.T) {
	for want, q := range map[string]question{
		"list graphs of all namespaces":   rightToGraph("list", "", ""),
		`list graphs of namespace "shop"`: rightToGraph("list", "shop", ""),
		"watch graph shop/web":            rightToGraph("watch", "shop", "web"),
		"open graphs of cluster eu-1":     rightToCluster("eu-1"),
		"watch " + streams:                {verb: "watch", resource: streams},
	} {
		if got := q.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
