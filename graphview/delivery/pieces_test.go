package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// poll is one message's worth of a reader: what it holds while it does not read on.
func (r *reader) poll(tb testing.TB) (held int) {
	tb.Helper()
	frames, err := r.Poll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range frames {
		held += len(f.JSON)
		r.apply(tb, f)
	}
	return held
}

// keptIsCounted: what is kept is what was counted, and no more than is allowed.
func keptIsCounted(tb testing.TB, p *Publisher) {
	tb.Helper()
	kept := 0
	for _, at := range p.changes.slots {
		size := 0
		for _, c := range at.order {
			size += c.bytes()
		}
		if size != at.size || size+at.denied.bytes() != at.bytes || size > max(minShared, p.Subscribers()*sharedPerReader) || len(at.order) != len(at.pieces) {
			tb.Errorf("%d pieces of %d bytes are kept in an order of %d; %d and %d bytes were counted", len(at.pieces), size, len(at.order), at.size, at.bytes)
		}
		kept += at.bytes
	}
	if kept != p.changes.bytes {
		tb.Errorf("%d bytes are kept, %d were counted", kept, p.changes.bytes)
	}
}

// TestReencodedPieceIsCountedOnce: a piece that is encoded again, because there are further
// changes, is counted in place of the piece that it replaces. The owner of the view pays for all pieces: if the
// count leaked, no piece could be shared in the end.
func TestReencodedPieceIsCountedOnce(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	first, second := s.twoReaders(t)
	for _, phase := range []string{"Failed", "Succeeded", "Running"} {
		s.set(phase, false, "a")
		first.catchUp(t)
	}
	s.set("Failed", false, "a")
	second.catchUp(t)
	keptIsCounted(t, s.publisher)
	if held, kept := s.held[budget.Messages], s.publisher.changes.bytes; held != int64(kept) || held == 0 {
		t.Errorf("the owner of the view pays for %d bytes of %d", held, kept)
	}
	second.Close()
	first.Close()
	if held := s.held[budget.Messages]; held != 0 {
		t.Errorf("%d bytes are charged when nobody reads", held)
	}
}

// TestSharedMessagesNeedRoom: if the owner of a view may hold no more, the view keeps for its subscribers only
// the message that was encoded last, and all of them get all changes.
func TestSharedMessagesNeedRoom(t *testing.T) {
	for name, most := range map[string]int64{"no room": 1, "room for two messages": 2*pieceBytes + 600} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.most = most
			s.set("Running", false, "a")
			readers := make([]*reader, 4)
			for i := range readers {
				o := SubscribeOptions{}
				if i%2 == 1 {
					o.Content = SummaryOnly
				}
				readers[i] = s.reader(o)
				readers[i].catchUp(t)
			}
			for i := range 50 {
				s.set([]string{"Failed", "Succeeded", "Running"}[i%3], false, "a", fmt.Sprint("p", i%5))
				for j, r := range readers {
					if (i+j)%3 > 0 || i == 49 {
						r.catchUp(t)
					}
				}
				kept := s.publisher.changes.bytes
				for _, at := range s.publisher.changes.slots {
					if len(at.order) > 1 && int64(kept) > most {
						t.Fatalf("%d messages of %d bytes are kept, and the owner may hold %d", len(at.order), kept, most)
					}
				}
				if len(s.publisher.changes.slots) > 1 && int64(kept) > most || s.held[budget.Messages] > most {
					t.Fatalf("messages for %d rights of %d bytes are kept, %d are charged, and the owner may hold %d", len(s.publisher.changes.slots), kept, s.held[budget.Messages], most)
				}
			}
			for i, r := range readers[2:] {
				if diff := cmp.Diff(readers[i].vertices, r.vertices); diff != "" || len(r.vertices) != 6 {
					t.Errorf("readers %d and %d differ:\n%s", i, i+2, diff)
				}
			}
		})
	}
}

// TestLargeObjectInAChangeIsShared: current and new readers hold the same bytes of a large
// object.
func TestLargeObjectInAChangeIsShared(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	current := s.reader(SubscribeOptions{})
	current.catchUp(t)
	s.set(strings.Repeat("x", 100<<10), false, "a")
	changed, err := current.Poll()
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.reader(SubscribeOptions{}).Poll()
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) != 2 || len(begun) != 2 || changed[0] != begun[0] || changed[1].Rev == "" {
		t.Errorf("%d frames of a change and %d of a graph: the large one is shared: %v", len(changed), len(begun), changed[0] == begun[0])
	}
}

// explosive panics when it is encoded, as long as it is armed.
type explosive struct {
	fakeObject
	armed *bool
}

func (o *explosive) AppendJSON(dst []byte) ([]byte, error) {
	if *o.armed {
		panic("a bug")
	}
	return o.fakeObject.AppendJSON(dst)
}

// TestPanicLeavesNothingBehind: after a panic in one reader's encoding, the next reader encodes
// the piece again and continues from its own position.
func TestPanicLeavesNothingBehind(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a", "b")
	first, second := s.twoReaders(t)
	armed := true
	s.put("a", &explosive{fakeObject{uid: "uid-a", json: `{"metadata":{"name":"a"},"status":{"phase":"Failed"}}`}, &armed})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_, _ = first.Poll()
	}()
	armed = false
	sent := second.sent
	second.catchUp(t)
	if second.sent != sent+1 || !strings.Contains(second.vertices["a"], "Failed") {
		t.Errorf("after %d the second reader was sent %d vertices, and has %s", sent, second.sent, second.vertices["a"])
	}
	keptIsCounted(t, s.publisher)
}
