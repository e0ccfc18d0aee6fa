package stream

import (
	"testing"

	"graphview.dev/stream/names"
)

func TestQuestionString(t *testing.T) {
	for want, q := range map[string]question{
		"list graphs of all namespaces":   rightToGraph("list", "", ""),
		`list graphs of namespace "shop"`: rightToGraph("list", "shop", ""),
		"watch graph shop/web":            rightToWatch(names.GraphName{Namespace: "shop", Name: "web"}),
		"open graphs of cluster eu-1":     rightToWatch(names.GraphName{Cluster: "eu-1", Namespace: "shop", Name: "web"}),
		"watch " + streams:                {verb: "watch", resource: streams},
	} {
		if got := q.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
