package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/replicas"
)

func TestCandidates(t *testing.T) {
	type flags = map[string]peer
	for name, tt := range map[string]struct {
		rank  []string
		since string
		held  bool // here
		flags flags
		want  []string
	}{
		"the owner":                        {rank: []string{"b", "c", "a"}, want: []string{"b", "c held"}},
		"the owner itself":                 {rank: []string{"a", "c", "b"}, want: []string{"a", "c held", "b held"}},
		"the replica of the revision":      {rank: []string{"c", "b", "a"}, since: "b.x", want: []string{"b held", "c"}},
		"a revision of its own":            {rank: []string{"c", "b", "a"}, since: "a.x", held: true, want: []string{"a", "c", "b held"}},
		"a revision makes no replica hold": {rank: []string{"c", "b", "a"}, since: "a.x", want: []string{"c", "b held"}},
		"a lost run":                       {rank: []string{"c", "b", "a"}, since: "gone.x", want: []string{"c", "b held"}},
		"no revision":                      {rank: []string{"c", "b", "a"}, since: delivery.NoRevision, want: []string{"c", "b held"}},
		"a suspect":                        {rank: []string{"c", "b", "a"}, since: "c.x", flags: flags{"c": {suspect: true}}, want: []string{"b"}},
		"a replica that drains":            {rank: []string{"c", "b", "a"}, since: "c.x", flags: flags{"c": {draining: true}}, want: []string{"b"}},
		"another version":                  {rank: []string{"c", "b", "a"}, since: "c.x", flags: flags{"c": {compatible: false, suspect: true}}, want: []string{"b"}},
		"it is alone":                      {rank: []string{"c", "a"}, flags: flags{"c": {suspect: true}}, want: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []replicas.Member
			for _, run := range slices.Sorted(slices.Values(tt.rank)) {
				all = append(all, replicas.Member{Name: run, Run: run, Address: run + ":1"})
			}
			scope := scopeRanked(t, all, tt.rank...)
			p := plan{self: all[0], shares: replicas.Balance([]string{scope}, all)}
			for _, m := range all {
				is := tt.flags[m.Run]
				p.peers = append(p.peers, peer{m, name != "another version" || m.Run != "c", is.suspect, is.draining})
			}
			var got []string
			for _, c := range p.candidates(scope, tt.since, tt.held) {
				if c.onlyIfHeld {
					c.Run += " held"
				}
				got = append(got, c.Run)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// world is some replicas that agree on each other, and where a subscriber at each of them
// reads each view.
type world struct {
	t       *testing.T
	now     time.Time
	changed time.Time
	scopes  []string
	peers   []peer
	reads   map[[2]string]readFrom // by the edge's name, and scope
	joined  int
	shares  [2]map[string]string // since the last event
}

type readFrom struct {
	member replicas.Member
	since  time.Time
}

// plan is that of one replica.
func (w *world) plan(self replicas.Member) *plan {
	return &plan{self: self, peers: w.peers, changed: w.changed, shares: w.shares[0], writers: w.shares[1]}
}

// balance is called after an event.
func (w *world) balance() {
	var compatible, all []replicas.Member
	for _, p := range w.peers {
		if all = append(all, p.Member); p.compatible {
			compatible = append(compatible, p.Member)
		}
	}
	w.shares = [2]map[string]string{replicas.Balance(w.scopes, compatible), replicas.Balance(w.scopes, all)}
}

// event changes the members or their flags.
func (w *world) event(random *rand.Rand) string {
	w.changed = w.now
	defer w.balance()
	at := random.IntN(len(w.peers))
	p := &w.peers[at]
	switch random.IntN(5) {
	case 0:
		w.joined++
		name := fmt.Sprint("new-", w.joined)
		w.peers = append(w.peers, peer{replicas.Member{Name: name, Run: name}, true, false, false})
		return name + " joins"
	case 1:
		if len(w.peers) > 1 {
			name := p.Name
			w.peers = slices.Delete(slices.Clone(w.peers), at, at+1)
			return name + " is lost"
		}
	case 2:
		p.suspect = !p.suspect
		return fmt.Sprint(p.Name, " is suspected: ", p.suspect)
	case 3:
		p.draining = !p.draining
		return fmt.Sprint(p.Name, " drains: ", p.draining)
	}
	p.Run += "'" // its container was restarted
	return p.Name + " restarts"
}

// step lets a second pass, in which each subscriber reads from a replica that it may read
// from, or moves.
func (w *world) step(event string) (moved int) {
	w.now = w.now.Add(time.Second)
	for _, self := range w.peers {
		p := w.plan(self.Member)
		for _, scope := range w.scopes {
			key := [2]string{self.Name, scope}
			at, reading := w.reads[key]
			if reading && !p.moves(scope, at.member, at.since, w.now) {
				continue
			}
			if reading && p.stays(at.member) && w.now.Sub(w.changed) < stable {
				w.t.Fatalf("%s: %s leaves %s, which is well, %v after the last change", event, key, at.member.Run, w.now.Sub(w.changed))
			}
			moved++
			next := replicas.Member{Name: self.Name, Run: self.Run} // it loads the view itself
			if candidates := p.candidates(scope, "", false); len(candidates) > 0 {
				next = candidates[0].Member
				if i := slices.IndexFunc(w.peers, func(o peer) bool { return o.Member == next }); !w.peers[i].readable() {
					w.t.Fatalf("%s: %s is to read from %+v", event, key, w.peers[i])
				}
			}
			w.reads[key] = readFrom{next, w.now}
		}
	}
	return moved
}

// TestPlan: whatever happens to the replicas, each scope is held by one and its status is
// written by one, no replica holds more than its bound, no subscriber leaves a replica that
// is well before the replicas have been stable, and when they are, subscribers come to rest.
func TestPlan(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := &world{t: t, now: time.Unix(1000, 0), reads: make(map[[2]string]readFrom)}
		for i := range 1 + random.IntN(40) {
			w.scopes = append(w.scopes, fmt.Sprint("namespace-", i))
		}
		for i := range 1 + random.IntN(5) {
			name := fmt.Sprint("replica-", i)
			w.peers = append(w.peers, peer{replicas.Member{Name: name, Run: name}, true, false, false})
		}
		event := "start"
		w.balance()
		for range 30 {
			for range random.IntN(60) {
				w.step(event)
			}
			event = w.event(random)
			held := make(map[string]int)
			for _, scope := range w.scopes {
				holders, writers := 0, 0
				for _, self := range w.peers {
					p := w.plan(self.Member)
					if p.holds(scope) {
						holders++
						held[self.Name]++
					}
					if p.writes(scope) {
						writers++
					}
				}
				if holders != 1 || writers != 1 {
					t.Fatalf("seed %d: %s: %d hold %s, and %d write its status", seed, event, holders, scope, writers)
				}
			}
			for name, n := range held {
				if bound := (5*len(w.scopes) + 4*len(w.peers) - 1) / (4 * len(w.peers)); n > bound {
					t.Fatalf("seed %d: %s: %s holds %d of %d scopes, want at most %d", seed, event, name, n, len(w.scopes), bound)
				}
			}
		}
		for i := range w.peers {
			w.peers[i].suspect, w.peers[i].draining = false, false
		}
		w.changed = w.now
		for range int((stable + movable) / time.Second) {
			w.step("the end")
		}
		if moved := w.step("rest"); moved > 0 {
			t.Errorf("seed %d: %d subscribers still move", seed, moved)
		}
		for key, at := range w.reads {
			self := slices.IndexFunc(w.peers, func(p peer) bool { return p.Name == key[0] })
			if self >= 0 && !w.plan(at.member).holds(key[1]) {
				t.Errorf("seed %d: %s is read at %s, which does not hold it", seed, key, at.member.Run)
			}
		}
	}
}
