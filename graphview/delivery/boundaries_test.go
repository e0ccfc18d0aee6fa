//go:build !race

package delivery

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// load is a model without a clock: after each change of one object, some of the readers, drawn at random, read
// once. So it says how much is encoded if there is time for that many reads.
type load struct{ objects, size, reads int }

const loadReaders, loadEvents = 100, 1000

// run returns the encodings per event, and how many events the last reader is behind.
func (m load) run(t *testing.T) (encodings float64, behind uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(m.reads)))
	s := newStage(t)
	names := podNames(m.objects)
	s.set("Running", false, names...)
	all := make([]*reader, loadReaders)
	for i := range all {
		all[i] = s.reader(SubscribeOptions{})
		for all[i].state.pos.Known < s.lens.Head() {
			if _, err := all[i].Poll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := s.publisher.o.Shared.Encodings()
	for range loadEvents {
		s.set("Running"+strings.Repeat("x", m.size), false, names[random.IntN(m.objects)])
		for range m.reads {
			if _, err := all[random.IntN(loadReaders)].Poll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	encodings = float64(s.publisher.o.Shared.Encodings()-before) / loadEvents
	for _, r := range all {
		behind = max(behind, s.lens.Head()-r.state.pos.Read())
	}
	keptIsCounted(t, s.publisher)
	return encodings, behind
}

// TestReadersStayAtBoundaries: however many reads there is time for, a change is encoded about once and no reader
// falls further behind than the reads that it waits for. Where changes are so large that the reads could not take
// all of them, so that readers fall behind without end, only the encodings are bounded.
func TestReadersStayAtBoundaries(t *testing.T) {
	const never = 1 << 62
	for name, test := range map[string]struct {
		load

		encodings float64
		behind    uint64
	}{
		"a read per event":                {load{30, 200, 1}, 1.5, 1000},
		"five reads":                      {load{30, 200, 5}, 1.5, 200},
		"twenty reads":                    {load{30, 200, 20}, 1.5, 50},
		"all read":                        {load{30, 200, 200}, 1, 10},
		"a read, of many objects":         {load{2000, 200, 1}, 1.5, never},
		"twenty reads, of many objects":   {load{2000, 200, 20}, 1.5, 50},
		"a read, of large objects":        {load{2000, 8 << 10, 1}, 1.5, never},
		"five reads, of large objects":    {load{2000, 8 << 10, 5}, 1.5, never},
		"twenty reads, of the same ones":  {load{30, 8 << 10, 20}, 2, 600},
		"twenty reads, of large objects":  {load{2000, 8 << 10, 20}, 2, never},
		"ten reads, of large objects":     {load{2000, 8 << 10, 10}, 2, never},
		"thirty reads, of large objects":  {load{2000, 8 << 10, 30}, 2, 100},
		"hundred reads, of large objects": {load{2000, 8 << 10, 100}, 1.5, 20},
		"twenty reads, of larger objects": {load{30, 40 << 10, 20}, 2, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			encodings, behind := test.run(t)
			t.Logf("%.2f encodings per event, %d events behind", encodings, behind)
			if encodings > test.encodings || behind > test.behind {
				t.Errorf("want at most %.1f and %d", test.encodings, test.behind)
			}
		})
	}
}

// TestBoundariesAgree: at each revision, all readers have the graph of that revision, whatever they read before:
// pieces from a boundary before theirs, or of a net change that others began.
func TestBoundariesAgree(t *testing.T) {
	const readers, objects, events = 24, 40, 700
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, seed))
			s := newStage(t)
			name := func() string { return fmt.Sprintf("p%02d", random.IntN(objects)) }
			var all []*reader
			for i := range readers {
				all = append(all, s.reader(SubscribeOptions{Content: Content(i % 3), JoinWalk: i%2 == 0}))
			}
			at := map[Content]map[uint64]*reader{WholeObject: {}, SummaryOnly: {}, KeysOnly: {}}
			for range events {
				switch random.IntN(5) {
				case 0:
					s.remove(name())
				case 1:
					s.refer(name(), name())
				case 2:
					s.set("Failed"+strings.Repeat("x", random.IntN(12<<10)), false, name(), name())
				default:
					s.set(fmt.Sprint("Phase", random.IntN(3)), random.IntN(4) == 0, name())
				}
				for content, seen := range at {
					now := s.reader(SubscribeOptions{Content: content})
					now.catchUp(t)
					now.Close()
					seen[s.lens.Head()] = now
				}
				for range random.IntN(6) {
					i := random.IntN(readers)
					if random.IntN(4) > 0 {
						i %= 6 // the others fall behind
					}
					r := all[i]
					frames, err := r.Poll()
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range frames {
						if r.apply(t, f); f.Rev == "" {
							continue
						}
						rev, _ := s.publisher.o.Run.decode(f.Rev)
						if d := differ(r, at[r.wanted.content][rev.known]); d != "" {
							t.Fatalf("at revision %d reader %d has another graph: %s", rev.known, i, d)
						}
					}
				}
			}
			keptIsCounted(t, s.publisher)
		})
	}
}

// refer adds or updates a pod with a reference to another one.
func (s *stage) refer(name, to string) {
	s.put(name, &fakeObject{uid: "uid-" + name, json: fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":"%d"}}`, name, s.revision)}, to)
}

// differ returns the differences between the graphs of two readers, "" if they are equal.
func differ(have, want *reader) (out string) {
	for name := range have.vertices {
		if _, ok := want.vertices[name]; !ok {
			out += fmt.Sprintf(" %s is there;", name)
		}
	}
	for name, text := range want.vertices {
		if have.vertices[name] != text {
			out += fmt.Sprintf(" %s is %.150q, want %.150q;", name, have.vertices[name], text)
		}
	}
	if !maps.Equal(have.arcs, want.arcs) {
		out += fmt.Sprintf(" arcs %v, want %v", have.arcs, want.arcs)
	}
	return out
}
