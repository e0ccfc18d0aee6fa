package replicas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	settled(t, edges)
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
	settled(t, edges)
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

// TestStopIsGoingAway: a replica that stops closes its streams with 1001, and other
// replicas continue.
func TestStopIsGoingAway(t *testing.T) {
	settled(t, edges)
	s := newScene(t, 2)
	readers := s.readers()
	s.equal(readers)
	stopped := runAt(t, edges[0])
	end(t, edges[0])
	for run, address := range leases(t) {
		if run == stopped {
			t.Errorf("the Lease of the replica at %s is left", address)
		}
	}
	for _, r := range readers {
		if r.at == edges[0] {
			r.move(edges[1])
		}
	}
	s.change(1)
	s.equal(readers)
	for _, r := range readers {
		if ends := r.Ends(); ends[1001] > 1 || len(ends) > 1 || len(ends) == 1 && ends[1001] == 0 {
			t.Errorf("%s: streams ended with %v", r.view, ends)
		}
	}
	restart(t, edges[0])
	settled(t, edges)
	s.equal(readers)
}

// TestRollout: replicas are replaced, each as soon as the one before is ready. Streams end
// only with 1001, and are reset only when the replica that holds their view ends.
func TestRollout(t *testing.T) {
	e := &episode{scene: newScene(t, 2), random: rand.New(rand.NewPCG(1, 20)), victim: edges[0], allowed: make(map[*reader]*allowance)}
	e.play(t, trouble{name: "rollout", begin: rollout})
}
