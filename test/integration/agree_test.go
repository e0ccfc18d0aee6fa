package integration

import (
	"testing"
	"time"

	"graphview.dev/test/oracle"
)

// agree waits until each view has been shown as the oracle builds it. It builds the graphs of the views that remain from
// one snapshot each time: a snapshot for each view would list the same objects again, and take most of the processor
// time of a test. The function differs compares a view's followers with the oracle's graph.
func agree(t *testing.T, views map[string]oracle.View, differs func(name string, want oracle.Graph) string) {
	t.Helper()
	agreed := map[string]bool{}
	eventually(t, 60*time.Second, func() string {
		snapshot, err := oracle.Take(cluster.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		last := ""
		for name, v := range views {
			if agreed[name] {
				continue
			}
			want, err := snapshot.Build(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			if why := differs(name, want); why != "" {
				last = name + " (-oracle +client):\n" + why
			} else {
				agreed[name] = true
			}
		}
		return last
	})
}
