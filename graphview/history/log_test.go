package history

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

var pods = graph.Resource{Version: "v1", Resource: "pods"}

var compareEntries = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b Health) bool { return a == b })}

// clock is a time that a test moves.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1_700_000_000, 0)} }

func (c *clock) Now() time.Time { return c.now }

// change returns an entry about one of a few objects of a namespace.
func change(random *rand.Rand, namespace string) *Entry {
	e := &Entry{
		Op: Op(random.IntN(3)), Kind: "Pod", UID: fmt.Sprint("uid-", random.IntN(9)), Object: graph.Key{Resource: pods, Namespace: namespace, Name: fmt.Sprint("pod-", random.IntN(9))},
		Before: HealthOf(health.Health{State: health.OK, Ready: int64(random.IntN(3)), Wanted: 2, Counted: true}),
		After:  HealthOf(health.Health{State: health.Degraded, Reason: "CrashLoopBackOff", Since: 1_700_000_000}), More: random.IntN(2),
	}
	for range random.IntN(3) {
		e.Paths = append(e.Paths, Path{Path: "spec.containers[web].image", Op: Changed, Before: fmt.Sprint("web:", random.IntN(100)), After: "web:2"})
		e.Views = append(e.Views, random.Uint32())
	}
	for range random.IntN(3) {
		e.Arcs = append(e.Arcs, Arc{
			Type: graph.Direct, To: graph.Kind{Kind: "ConfigMap"}, Namespace: namespace, Name: fmt.Sprint("map-", random.IntN(3)), Implied: random.IntN(2) == 0,
			Before: graph.ArcSide{Exists: true, Named: true, Required: random.IntN(2) == 0, NamedBy: []string{"spec.volumes[].configMap.name"}, Fields: []string{"a", "b"}},
		})
	}
	if e.Op == Removed {
		e.Summary = fmt.Sprintf(`{"k":"Pod","u":%q}`, e.UID)
	}
	if random.IntN(4) == 0 {
		e.From = 1_700_000_000_000_000
	}
	return e
}

// TestCodec: an encoded entry decodes to an equal one, and a damaged one does not panic.
func TestCodec(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := change(random, "shop")
		want.At = 1_700_000_001_000_000 + int64(random.IntN(1000))
		text := appendEntry(nil, want)
		all := split(text)
		if len(all) != 1 {
			t.Fatalf("%d entries", len(all))
		}
		got, err := decodeEntry("shop", all[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Arcs {
			if after := &want.Arcs[i].After; !after.Exists {
				*after = graph.ArcSide{}
			}
		}
		if d := cmp.Diff(want, got, compareEntries); d != "" {
			t.Fatalf("-want +got:\n%s", d)
		}
		if all[0].hash != Hash(&want.Object) || all[0].op != want.Op || all[0].at() != want.At {
			t.Errorf("head %+v", all[0])
		}
		text[random.IntN(len(text))] ^= byte(1 + random.IntN(255))
		for _, r := range split(text[:random.IntN(len(text)+1)]) {
			_, _ = decodeEntry("shop", r)
		}
	}
}

// TestAge: entries and gaps are kept for the age, and no longer.
func TestAge(t *testing.T) {
	at := newClock()
	l := NewLog(Options{Age: time.Hour, Now: at.Now})
	l.Append([]*Entry{change(rand.New(rand.NewPCG(58, 1)), "shop")})
	l.gaps = []Gap{{Until: at.now.UnixMicro(), Why: "a test"}}
	for _, test := range []struct {
		after time.Duration
		want  int
	}{{time.Hour, 1}, {time.Microsecond, 0}} {
		at.now = at.now.Add(test.after)
		l.KeepUp()
		entries := 0
		for range l.Forward("shop", 0) {
			entries++
		}
		if gaps := len(l.Gaps(0)); entries != test.want || gaps != test.want {
			t.Errorf("%d entries and %d gaps, %v after the age, want %d", entries, gaps, test.after, test.want)
		}
	}
}

// naive is a log without segments, shares and compression: it keeps everything.
type naive map[string][]*Entry

// TestLogEqualsNaive appends, expires and shrinks at random. For each owner, the log has the last entries that were
// appended: all after Since.
func TestLogEqualsNaive(t *testing.T) {
	for seed := range uint64(3) {
		random, at := rand.New(rand.NewPCG(58, seed)), newClock()
		l, all := NewLog(Options{Bytes: 200 << 10, Age: time.Hour, Now: at.Now}), naive{}
		for range 1200 {
			namespace := []string{"", "shop", "flood", "quiet"}[[...]int{0, 1, 2, 2, 2, 2, 2, 2, 2, 3}[random.IntN(10)]]
			entries := make([]*Entry, 1+random.IntN(3))
			for i := range entries {
				entries[i] = change(random, namespace)
			}
			l.Append(entries)
			all[namespace] = append(all[namespace], entries...)
			at.now = at.now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
			if random.IntN(50) == 0 {
				l.KeepUp()
			}
			if l.Stats().Bytes > 200<<10 {
				t.Fatalf("%d bytes", l.Stats().Bytes)
			}
		}
		for namespace, appended := range all {
			since := l.Since(namespace)
			want := slices.DeleteFunc(slices.Clone(appended), func(e *Entry) bool { return e.At <= since })
			var forward, backward []*Entry
			for e := range l.Forward(namespace, since) {
				forward = append(forward, e)
			}
			for e := range l.Backward(namespace, since, l.now(), nil) {
				backward = append(backward, e)
			}
			slices.Reverse(backward)
			for i := range want {
				for j := range want[i].Arcs {
					want[i].Arcs[j].After = graph.ArcSide{}
				}
			}
			if d := cmp.Diff(want, forward, compareEntries); d != "" {
				t.Fatalf("seed %d, %q forward -want +got:\n%s", seed, namespace, d)
			}
			if d := cmp.Diff(want, backward, compareEntries); d != "" && namespace != "" {
				t.Fatalf("seed %d, %q backward -want +got:\n%s", seed, namespace, d)
			}
		}
	}
}

// TestPastEqualsNaive: Past returns the states of random objects that were recorded at random times.
func TestPastEqualsNaive(t *testing.T) {
	type state struct {
		uid    string
		health Health
		arcs   map[string]bool
	}
	for seed := range uint64(30) {
		random, at := rand.New(rand.NewPCG(7, seed)), newClock()
		l, now := NewLog(Options{Now: at.Now}), map[string]state{}
		type moment struct {
			at   int64
			want map[string]state
		}
		var moments []moment
		side := func(exists bool) graph.ArcSide { return graph.ArcSide{Exists: exists, Named: exists} }
		arc := func(name string, before, after bool) Arc {
			return Arc{Type: graph.Direct, To: graph.Kind{Kind: "ConfigMap"}, Namespace: "shop", Name: name, Before: side(before), After: side(after)}
		}
		for step := range 300 {
			at.now = at.now.Add(time.Second)
			name := fmt.Sprint("pod-", random.IntN(6))
			was, there := now[name]
			e := &Entry{Object: graph.Key{Resource: pods, Namespace: "shop", Name: name}, Kind: "Pod", Before: was.health}
			next := state{uid: was.uid, health: HealthOf(health.Health{State: health.States[random.IntN(6)], Since: int64(step)}), arcs: map[string]bool{}}
			switch {
			case !there:
				e.Op, next.uid = Added, fmt.Sprint("uid-", step)
				next.arcs["a"] = true
			case random.IntN(3) == 0:
				e.Op, e.Summary = Removed, was.uid
				for name := range was.arcs {
					e.Arcs = append(e.Arcs, arc(name, true, false))
				}
			default:
				for _, target := range []string{"a", "b", "c"} {
					next.arcs[target] = random.IntN(2) == 0
					if next.arcs[target] != was.arcs[target] {
						e.Arcs = append(e.Arcs, arc(target, was.arcs[target], next.arcs[target]))
					}
					if !next.arcs[target] {
						delete(next.arcs, target)
					}
				}
			}
			if e.Op == Removed {
				delete(now, name)
			} else {
				e.After = next.health
				now[name] = next
			}
			l.Append([]*Entry{e})
			if random.IntN(10) == 0 {
				moments = append(moments, moment{at.now.UnixMicro(), maps.Clone(now)})
			}
		}
		for _, m := range moments {
			p := l.Past(m.at)
			if err := p.Read(func(string) bool { return true }); err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				name := fmt.Sprint("pod-", i)
				got, exists := now[name]
				if of := p.Objects[graph.Key{Resource: pods, Namespace: "shop", Name: name}]; of != nil {
					exists = of.Exists
					if of.Health.Known() {
						got.health = of.Health
					}
					if of.Summary != "" {
						got.uid = of.Summary
					}
					arcs := map[string]bool{}
					for k := range got.arcs {
						arcs[k] = true
					}
					for to, side := range of.Arcs {
						delete(arcs, to.Name)
						if side.Exists {
							arcs[to.Name] = true
						}
					}
					if of.Gone {
						for k := range arcs {
							if !of.Arcs[ArcTo{graph.Direct, graph.Kind{Kind: "ConfigMap"}, "shop", k}].Exists {
								delete(arcs, k)
							}
						}
					}
					got.arcs = arcs
				}
				want, existed := m.want[name]
				if exists != existed || existed && (got.uid != want.uid || got.health != want.health || !cmp.Equal(got.arcs, want.arcs)) {
					t.Fatalf("seed %d: %s at %d: %v %+v, want %v %+v", seed, name, m.at, exists, got, existed, want)
				}
			}
		}
	}
}

// TestForeign: a namespace is the same as long as there was an object in it, from the creation of that on.
func TestForeign(t *testing.T) {
	at := newClock()
	l := NewLog(Options{Now: at.Now})
	before := at.now.Add(-time.Hour).UnixMicro()
	if !l.Foreign("shop", before) || l.Foreign("", before) {
		t.Error("nothing is known of the namespace")
	}
	l.Occupy("shop", at.now.Add(-time.Minute).UnixMicro())
	l.Occupy("shop", before)
	if l.Foreign("shop", before) || !l.Foreign("shop", before-1) {
		t.Error("an object is as old as that")
	}
	l.Vacate("shop")
	if l.Foreign("shop", before) {
		t.Error("another object stays")
	}
	l.Vacate("shop")
	if !l.Foreign("shop", at.now.UnixMicro()) {
		t.Error("no object is left")
	}
	at.now = at.now.Add(time.Minute)
	l.Occupy("shop", at.now.UnixMicro())
	if !l.Foreign("shop", before) || l.Foreign("shop", at.now.UnixMicro()) {
		t.Error("the namespace may be a new one")
	}
	l.End("shop")
	at.now = at.now.Add(time.Minute)
	l.Occupy("shop", at.now.UnixMicro())
	if ended := at.now.Add(-time.Minute).UnixMicro(); !l.Foreign("shop", ended) || l.Foreign("shop", ended+1) {
		t.Error("the namespace was deleted, although a watch still has an object of it")
	}
}

// TestPastIsBounded: a log of a few megabytes whose entries have many arcs is not read into gigabytes.
func TestPastIsBounded(t *testing.T) {
	l := NewLog(Options{})
	for i := range 500 {
		e := &Entry{Object: graph.Key{Resource: graph.Resource{Version: "v1", Resource: "pods"}, Namespace: "shop", Name: "web"}}
		for n := range 2000 {
			e.Arcs = append(e.Arcs, Arc{Namespace: "shop", Name: fmt.Sprint(i, "-", n)})
		}
		l.Append([]*Entry{e})
		l.KeepUp()
	}
	everywhere := func(string) bool { return true }
	if err := l.Past(0).Read(everywhere); !errors.Is(err, ErrPastTooLarge) {
		t.Error(err)
	}
	if err := l.Past(l.Newest() - 1).Read(everywhere); err != nil {
		t.Error(err)
	}
}
