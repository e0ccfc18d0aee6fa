package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

var http1 = &http.Client{Timeout: 5 * time.Second}

// runOf is the run that the reader's revision is of: that of whoever holds the view.
func runOf(r *reader) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, _, _ := strings.Cut(r.client.Rev(), ".")
	return run
}

// leases are the addresses of the replicas, by run.
func leases(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	text := fixture.Kubectl(t, cluster, "get", "leases", "-n", "graphview-system", "-l", "app.kubernetes.io/component=graphview-replica",
		"-o", `jsonpath={range .items[*]}{.spec.holderIdentity} {.metadata.annotations.graphview\.dev/address}{"\n"}{end}`)
	for line := range strings.Lines(text) {
		if run, address, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[run] = address
		}
	}
	return out
}

// holderOf is the replica that a reader reads from, by the address in its Lease.
func holderOf(t *testing.T, r *reader) *operator.Operator {
	t.Helper()
	address := leases(t)[runOf(r)]
	for _, edge := range edges {
		for _, arg := range edge.Args() {
			if address != "" && arg == "--relay-bind-address="+address {
				return edge
			}
		}
	}
	t.Fatalf("nobody holds %s: revision of %q, Leases %v", r.view, runOf(r), leases(t))
	return nil
}

// runAt is the run of a replica, by the Lease that was renewed last of those with its
// address: a crashed one leaves its own.
func runAt(t *testing.T, of *operator.Operator) string {
	t.Helper()
	text := fixture.Kubectl(t, cluster, "get", "leases", "-n", "graphview-system", "-l", "app.kubernetes.io/component=graphview-replica",
		"-o", `jsonpath={range .items[*]}{.spec.renewTime} {.spec.holderIdentity} {.metadata.annotations.graphview\.dev/address}{"\n"}{end}`)
	run, last := "", ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 && slices.Contains(of.Args(), "--relay-bind-address="+fields[2]) && fields[0] > last {
			last, run = fields[0], fields[1]
		}
	}
	if run == "" {
		t.Fatalf("the replica has no Lease:\n%s", text)
	}
	return run
}

func others(than ...*operator.Operator) []*operator.Operator {
	var out []*operator.Operator
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
		if resets, ends := r.counts(); resets > 0 || len(ends) > 0 {
			t.Errorf("%s: %d resets, ends %v", r.view, resets, ends)
		}
	}
}

// TestResumeElsewhere: who loses the replica that it is connected to continues at
// another without a reset, and who loses the one that holds the view is reset once.
func TestResumeElsewhere(t *testing.T) {
	settled(t, edges)
	s := newScene(t, 1)
	r := read(t, cluster.Config(), edges[0], s.namespaces[0], "own")
	s.equal([]*reader{r})
	holder := holderOf(t, r)
	away := others(holder)

	// By way of one that does not hold the view, which then crashes.
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
	if resets, ends := r.counts(); resets > 0 || len(ends) > 0 {
		t.Errorf("%d resets, ends %v, though the holder was there all the time", resets, ends)
	}

	r.move(away[1])
	s.change(3)
	s.equal([]*reader{r})
	before, _ := r.counts()
	holder.Kill()
	s.change(4)
	s.equal([]*reader{r})
	if after, ends := r.counts(); after-before != 1 || len(ends) > 0 {
		t.Errorf("%d resets, ends %v, when the holder crashed; want one reset on an open stream", after-before, ends)
	}
	for _, edge := range []*operator.Operator{away[0], holder} {
		if err := edge.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, edges)
	s.equal([]*reader{r})
}

// TestStopIsGoingAway: a replica that is asked to end says so to those who are
// connected to it, and the others go on.
func TestStopIsGoingAway(t *testing.T) {
	settled(t, edges)
	s := newScene(t, 2)
	readers := s.readers()
	s.equal(readers)
	stopped := runAt(t, edges[0])
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if exit := edges[0].Stop(ctx); exit != 0 {
		t.Errorf("exit code %d", exit)
	}
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
		if _, ends := r.counts(); ends[1001] > 1 || len(ends) > 1 || len(ends) == 1 && ends[1001] == 0 {
			t.Errorf("%s: streams ended with %v", r.view, ends)
		}
	}
	if err := edges[0].Restart(); err != nil {
		t.Fatal(err)
	}
	settled(t, edges)
	s.equal(readers)
}
