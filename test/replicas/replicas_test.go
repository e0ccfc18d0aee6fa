package replicas

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/peers"
)

func others(than ...*peers.Replica) []*peers.Replica {
	var out []*peers.Replica
	for _, edge := range edges {
		if !slices.Contains(than, edge) {
			out = append(out, edge)
		}
	}
	return out
}

// TestEqualEverywhere: each view is held once, and read at every replica alike.
func TestEqualEverywhere(t *testing.T) {
	s := newScene(t, 6)
	readers := s.readers()
	s.equal(readers)
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		s.change(random.Uint64())
	}
	s.equal(readers)
	all := len(strings.Fields(fixture.Kubectl(t, cluster, "get", "graphviews", "-A", "-o", "name")))
	eventually(t, func() string {
		if total := s.owned(); total != all {
			return fmt.Sprintf("%d views are held by their owners, want %d", total, all)
		}
		return ""
	})
	for _, r := range readers {
		r.undisturbed(t)
	}
}

// TestResumeElsewhere: a subscriber that loses the replica it is connected to resumes at
// another one without a reset. If the replica that holds the view is lost, its subscribers
// are reset once.
func TestResumeElsewhere(t *testing.T) {
	s := newScene(t, 1)
	r := read(t, cluster.Config(), edges[0], s.namespaces[0], "own")
	s.equal([]*reader{r})
	holder := holderOf(t, r)
	away := others(holder)

	// The subscriber is connected to a replica that does not hold the view, and that crashes.
	r.move(away[0])
	s.change(0)
	s.equal([]*reader{r})
	away[0].Kill()
	r.move(away[1])
	s.change(1)
	s.equal([]*reader{r})
	// And at the holder itself.
	r.move(holder)
	s.change(2)
	s.equal([]*reader{r})
	before := r.soFar().resets
	if ends := r.Ends(); before > 0 || len(ends) > 0 {
		t.Errorf("%d resets, ends %v, though the holder was there all the time", before, ends)
	}

	r.move(away[1])
	s.change(3)
	s.equal([]*reader{r})
	before = r.soFar().resets
	holder.Kill()
	s.change(4)
	s.equal([]*reader{r})
	if after, ends := r.soFar().resets, r.Ends(); after-before != 1 || len(ends) > 0 {
		t.Errorf("%d resets, ends %v, when the holder crashed; want one reset on an open stream", after-before, ends)
	}
	restart(t, away[0], holder)
	settled(t, edges)
	s.equal([]*reader{r})
}

// TestRollout: a replica that stops deletes its Lease and closes its streams with 1001, and other
// replicas continue. That is so also when all are replaced, each as soon as the one before is
// ready. Streams are reset only when the replica that holds their view ends.
func TestRollout(t *testing.T) {
	for _, trouble := range troubles {
		if trouble.name != "stop" && trouble.name != "rollout" {
			continue
		}
		t.Run(trouble.name, func(t *testing.T) {
			e := &episode{scene: newScene(t, 2), random: rand.New(rand.NewPCG(1, 20)), victim: edges[0]}
			e.play(t, trouble)
		})
	}
}

// TestStatusOfSharedViews: the status of a view counts the subscribers at all replicas that
// read from its writer, and names a replica that holds the view.
func TestStatusOfSharedViews(t *testing.T) {
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

// TestMetricsAreServed: each metric that docs/operations.md has for replicas that share
// views is served.
func TestMetricsAreServed(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "With `--view-holders` there are also:\n")
	section, _, _ = strings.Cut(section, "\n\nThere are also")
	documented := regexp.MustCompile("(?m)^\\| `(graphview_[a-z_]+)").FindAllStringSubmatch(section, -1)
	if len(documented) == 0 {
		t.Fatal("there are no such metrics")
	}
	eventually(t, func() string {
		for _, match := range documented {
			if _, err := edges[0].Metric(t.Context(), match[1]); err != nil {
				return match[1] + " is not served: " + err.Error()
			}
		}
		return ""
	})
}
