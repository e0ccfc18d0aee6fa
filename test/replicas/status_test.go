package replicas

import (
	"fmt"
	"testing"

	"graphview.dev/test/fixture"
)

// TestStatusOfSharedViews: the status of a view counts the subscribers at all replicas that
// read from its writer, and names a replica that holds the view.
func TestStatusOfSharedViews(t *testing.T) {
	settled(t, edges)
	s := newScene(t, 1)
	var readers []*reader
	for _, edge := range edges {
		readers = append(readers, read(t, cluster.Config(), edge, s.namespaces[0], "own"))
	}
	s.equal(readers)
	says := func(subscribers int) {
		t.Helper()
		eventually(t, func() string {
			want := make(map[string]bool)
			for _, r := range readers {
				want[fmt.Sprint(subscribers, " ", holderOf(t, r).Name)] = true
			}
			got := fixture.Kubectl(t, cluster, "get", "graphview", "own", "-n", s.namespaces[0], "-o", "jsonpath={.status.subscribers} {.status.holder}")
			if !want[got] {
				return fmt.Sprintf("the status says %q, want one of %v", got, want)
			}
			return ""
		})
	}
	says(len(edges))
	readers[0].stop()
	readers = readers[1:]
	says(len(edges) - 1)
}
