//go:build !race

package delivery

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/seed"
)

// TestSummaryThatReturns: a reader makes the summary of a version while another reader already reads the
// next one, whose summary is again that of the version before. The first reader is sent that too.
func TestSummaryThatReturns(t *testing.T) {
	version := func(hash, logged uint64, phase string) *graph.Change {
		return &graph.Change{Node: 1, Hash: hash, Logged: logged, Payload: &fakeObject{json: `{"kind":"Pod","status":{"phase":"` + phase + `"}}`}}
	}
	s := summaries{hold: func(budget.Use, int64) error { return nil }}
	read := func(c *graph.Change, known uint64) (text string, has bool) {
		t.Helper()
		made, has, err := s.of(c, known)
		if err != nil {
			t.Fatal(err)
		}
		return made, has
	}
	first, _ := read(version(1, 3, "Running"), 0)
	changed, returned := version(2, 5, "Failed"), version(3, 6, "Running")
	changed.Payload = &hookedObject{changed.Payload.(*fakeObject), func() {
		if text, has := read(returned, 4); text != first || !has {
			t.Errorf("the other reader, which did not see the change, is sent %s again", text)
		}
	}}
	if text, has := read(changed, 4); !strings.Contains(text, "Failed") || has {
		t.Fatalf("the slow reader gets %s, known already: %v", text, has)
	}
	if text, has := read(returned, 5); text != first || has {
		t.Errorf("the slow reader gets %s, known already: %v; want %s, which it does not know", text, has, first)
	}
}

// summaryReader is a subscriber that shows the summary of one object.
type summaryReader struct {
	known   uint64
	text    string
	reading bool
}

// TestSummariesOfReaders: whatever readers overlap, and whatever is dropped from the store or was never
// in it, because it is long or the owner holds too much, a reader that is told that it has a summary
// shows that one.
func TestSummariesOfReaders(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 2000 {
		var (
			long = random.IntN(2) == 0 // whether one of the summaries is
			held int64
			s    = summaries{hold: func(_ budget.Use, bytes int64) error {
				if bytes > held && random.IntN(4) == 0 {
					return errors.New("refused")
				}
				held = bytes
				return nil
			}}
			version = &graph.Change{Node: 1}
			readers [3]summaryReader
			step    func(depth int)
		)
		read := func(r *summaryReader, depth int) {
			if r.reading || r.known == version.Logged {
				return
			}
			c := *version
			c.Appeared = r.known == 0
			c.Payload = &hookedObject{c.Payload.(*fakeObject), func() {
				for range random.IntN(4) {
					step(depth + 1)
				}
			}}
			want := c.Payload.(*hookedObject).uid
			r.reading = true
			text, has, err := s.of(&c, r.known)
			r.reading = false
			switch {
			case err != nil:
				t.Fatal(err)
			case !has:
				r.text = text
			}
			if r.known = c.Logged; !strings.Contains(r.text, want) {
				t.Fatalf("after revision %d a reader shows %s, not %s", r.known, r.text, want)
			}
		}
		step = func(depth int) {
			switch n := random.IntN(12); {
			case depth > 3:
			case n < 4:
				// Three versions have two summaries.
				hash := random.Uint64N(3)
				uid := fmt.Sprint("uid-", hash/2)
				if long && hash == 2 {
					uid += strings.Repeat("-", maxSummary)
				}
				version = &graph.Change{Node: 1, Logged: version.Logged + 1, Hash: hash, Payload: &fakeObject{uid: uid, json: "{}"}}
			case n == 4:
				s.clear()
			case n == 5:
				if s.forget(version.Node); held != s.bytes {
					t.Fatalf("%d bytes are charged after a summary is dropped, and %d are held", held, s.bytes)
				}
			case version.Logged > 0:
				read(&readers[random.IntN(len(readers))], depth)
			}
		}
		for range 30 {
			step(0)
		}
		if s.clear(); held != 0 {
			t.Fatalf("an empty store holds %d bytes", held)
		}
	}
}

// TestSummaryAfterAFailure: a reader that was sent no summary, because the object could not be read, is
// sent the summary when the object is again as it was before.
func TestSummaryAfterAFailure(t *testing.T) {
	s := summaries{hold: func(budget.Use, int64) error { return nil }}
	version := func(hash, logged uint64, o Object) *graph.Change {
		return &graph.Change{Node: 1, Hash: hash, Logged: logged, Payload: o}
	}
	good := &fakeObject{json: `{"kind":"Pod","status":{"phase":"Running"}}`}
	first, _, err := s.of(version(1, 3, good), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, has, err := s.of(version(2, 5, &fakeObject{json: `[]`}), 4); err == nil || has {
		t.Fatal(has, err)
	}
	if text, has, err := s.of(version(1, 6, good), 5); err != nil || has || text != first {
		t.Errorf("known already: %t (%v), though the reader shows none", has, err)
	}
}

// TestSummaryBytes: the summaries of a view take no more memory than its owner pays for, and at least
// three quarters of it, whatever the number of objects and the lengths of their summaries are.
func TestSummaryBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 2))
	// The first summary makes what the process keeps for all.
	if _, err := Summarize("", &fakeObject{json: "{}"}, false); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		// A map takes most for each element just after it has grown.
		objects, longest := 4000<<random.IntN(4)+random.IntN(4000), 1+random.IntN(maxSummary+200)
		before := heap.Held()
		var held int64
		s := summaries{hold: func(_ budget.Use, bytes int64) error { held = bytes; return nil }}
		for i := range objects {
			uid := strings.Repeat("u", random.IntN(longest))
			if _, _, err := s.of(&graph.Change{Node: graph.NodeID(i + 1), Hash: 1, Logged: 1, Payload: &fakeObject{uid: uid, json: "{}"}}, 0); err != nil {
				t.Fatal(err)
			}
		}
		took := heap.Held() - before
		runtime.KeepAlive(&s)
		t.Logf("%d objects, at most %d bytes: said %d bytes for each, takes %d: %.2f", objects, longest, held/int64(objects), took/int64(objects), float64(took)/float64(held))
		if took > held+heap.Noise || 4*took < 3*held {
			t.Errorf("says %d bytes, takes %d", held, took)
		}
	}
}
