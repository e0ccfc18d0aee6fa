package replicas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"graphview.dev/test/peers"
)

// mostFailures ends a run that only repeats itself.
const mostFailures = 5

// TestEpisodes breaks replicas while objects change. Subscribers of the other replicas have
// the current graph during and after that; streams end only with 1001; and a subscriber is
// reset only if its holder, or the connection to it, was lost.
func TestEpisodes(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1_000_000
	}
	if *only != "" && !slices.ContainsFunc(troubles, func(t trouble) bool { return t.name == *only }) {
		t.Fatalf("no trouble is called %q", *only)
	}
	played = newSummary(first)
	s := newScene(t, 4)
	for i, name := range s.namespaces {
		s.declare(name, "pair", "resource == 'configmaps'", name, s.namespaces[(i+1)%len(s.namespaces)])
	}
	for i := range *episodes {
		if played.all.failed >= mostFailures || t.Context().Err() != nil {
			break
		}
		number := first + uint64(i)
		random := rand.New(rand.NewPCG(number, 20))
		trouble := troubleOf(number)
		e := &episode{scene: s, random: random, victim: edges[random.IntN(len(edges))]}
		began := time.Now()
		ok := t.Run(fmt.Sprintf("%d %s", number, trouble.name), func(t *testing.T) { e.play(t, trouble) })
		played.note(e, number, trouble.name, ok, time.Since(began))
	}
}

// troubleOf is the trouble of an episode: each in its turn, unless a flag names one.
func troubleOf(number uint64) trouble {
	some := slices.DeleteFunc(slices.Clone(troubles), func(t trouble) bool { return *only != "" && t.name != *only || t.long && !*long && *only == "" })
	return some[number%uint64(len(some))]
}

// episode is one trouble.
type episode struct {
	*scene

	random  *rand.Rand
	victim  *peers.Replica
	readers []*reader
	what    string
	began   time.Time // the trouble
	// resets is the number of resets, and allowances the number of permitted ones.
	resets, allowances int
	// moves are the resets that led to another holder though the one before lived: those
	// of a view that an owner has come for, or come back for.
	moves int
}

func (e *episode) play(t *testing.T, trouble trouble) {
	t.Helper()
	e.t, e.what = t, trouble.name
	t.Cleanup(e.restore)
	settled(t, edges)
	e.readers = e.scene.readers()
	e.equal(e.readers)

	e.began = time.Now()
	what, served, end := trouble.begin(e)
	e.what = what
	e.join(served)
	e.changes()
	e.equal(e.at(served))
	end()
	e.changes()
	e.equal(e.readers)
	e.judge()
	for _, r := range e.readers {
		r.stop()
	}
}

// restore ends what may be left of a trouble.
func (e *episode) restore() {
	e.calm()
	e.healed()
	for _, r := range edges {
		if r.Exited() != nil {
			if err := r.Restart(); err != nil {
				e.t.Error(err)
			}
			continue
		}
		_ = syscall.Kill(r.PID(), syscall.SIGCONT) // to one that runs, it says nothing
	}
}

func (e *episode) calm() {
	for _, r := range edges {
		r.Link.Turn(peers.Weather{})
	}
}

func (e *episode) healed() {
	for _, r := range edges {
		r.API.Heal()
	}
}

func (e *episode) eventually(check func() string) {
	e.t.Helper()
	eventually(e.t, check)
}

func (e *episode) changes() {
	e.t.Helper()
	for range 10 {
		e.change(e.random.Uint64())
	}
}

// join adds a subscriber at each of the replicas.
func (e *episode) join(at []*peers.Replica) {
	e.t.Helper()
	keys := e.keys()
	for _, edge := range at {
		key := keys[e.random.IntN(len(keys))]
		e.readers = append(e.readers, read(e.t, cluster.Config(), edge, key[0], key[1]))
	}
}

// at are the readers at some replicas.
func (e *episode) at(some []*peers.Replica) []*reader {
	var all []*reader
	for _, r := range e.readers {
		if slices.Contains(some, r.replica()) {
			all = append(all, r)
		}
	}
	return all
}

// flee moves some of the victim's subscribers to other replicas; the others wait.
func (e *episode) flee() {
	for _, r := range e.at([]*peers.Replica{e.victim}) {
		if e.random.IntN(2) == 0 {
			away := others(e.victim)
			r.move(away[e.random.IntN(len(away))])
		}
	}
}

func (e *episode) signal(s syscall.Signal) {
	e.t.Helper()
	if err := syscall.Kill(e.victim.PID(), s); err != nil {
		e.t.Fatal(err)
	}
}

// stops terminates a replica as a kubelet does. Subscribers of its views are reset once,
// its connections are closed with 1001, and its Lease is deleted.
func (e *episode) stops(r *peers.Replica) {
	e.t.Helper()
	e.loses(r, held)
	e.mayEnd(r, func(a *allowance) { a.goings++ })
	run := runAt(e.t, r)
	end(e.t, r)
	if by, _ := replicasByRun(e.t, e.client); by[run] != nil {
		e.t.Errorf("the Lease of %s is left", r.Name)
	}
}

// These are the readers that lose something with a replica: the readers of the views that it
// holds, those of them that are at another replica, and also the readers at it of views that
// another one holds.
func held(lost, _, holder *peers.Replica) bool            { return holder == lost }
func heldFromAfar(lost, edge, holder *peers.Replica) bool { return holder == lost && edge != lost }
func across(lost, edge, holder *peers.Replica) bool       { return holder == lost || edge == lost }

// loses permits a reset for subscribers that lose their holder or the connection to it.
func (e *episode) loses(lost *peers.Replica, affected func(lost, edge, holder *peers.Replica) bool) {
	e.t.Helper()
	by, _ := replicasByRun(e.t, e.client)
	for _, r := range e.readers {
		run := runOf(r)
		if holder := by[run]; holder != nil && !slices.Contains(r.may.lost, run) && affected(lost, r.replica(), holder) {
			r.may.lost = append(r.may.lost, run)
			r.may.resets++
		}
	}
}

// moved waits until readers have what there is, from replicas that are not lost: then it
// is known whose holder is lost next.
func (e *episode) moved(readers []*reader) {
	e.t.Helper()
	e.eventually(func() string {
		for _, r := range readers {
			if run := runOf(r); slices.Contains(r.may.lost, run) {
				return fmt.Sprintf("%s at %s is of %s, which has ended", r.view, r.replica().Name, run)
			}
		}
		return ""
	})
	e.equal(readers)
}

// mayEnd grants an allowance to the subscribers at a replica.
func (e *episode) mayEnd(at *peers.Replica, allow func(*allowance)) {
	for _, r := range e.at([]*peers.Replica{at}) {
		allow(&r.may)
	}
}

// judge compares what happened to the readers with what may.
func (e *episode) judge() {
	e.t.Helper()
	for _, r := range e.readers {
		a, past, moves := &r.may, r.soFar(), 0
		for _, run := range past.left {
			if !slices.Contains(a.lost, run) {
				moves++
			}
		}
		resets := past.resets - moves
		e.resets, e.allowances, e.moves = e.resets+resets, e.allowances+a.resets, e.moves+moves
		if resets > a.resets {
			e.t.Errorf("%s at %s: %d resets, want at most %d; %q; it began at %s", r.view, r.replica().Name, resets, a.resets, past.story, e.began.Format("05.000"))
		}
		for code, n := range r.Ends() {
			if code != 1001 || n > a.goings {
				e.t.Errorf("%s at %s: %d streams ended with %d; %d were to end with 1001", r.view, r.replica().Name, n, code, a.goings)
			}
		}
		if past.cuts > a.cuts {
			e.t.Errorf("%s at %s: %d streams ended without a word, want at most %d", r.view, r.replica().Name, past.cuts, a.cuts)
		}
	}
}
