package graph

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/patience"
)

// TestHeadNeedsNoLock: a reader gets the head and the number of vertices while the graph is locked
// for writing.
func TestHeadNeedsNoLock(t *testing.T) {
	c := newCrossroads(3, 1)
	l := c.small[0]
	head, vertices, changed := l.Head(), l.Vertices(), l.Changed(l.Head())
	_, uses := l.Uses(0)
	told := make(chan struct{})
	c.g.Update(func() {
		c.set("Pod", "shop", "pod-0", nil, nil)
		go func() {
			defer close(told)
			if l.Head() != head || l.Vertices() != vertices || l.Changed(head) != changed || l.Committing() != nil {
				t.Error("the lens has changed before the revision was made")
			}
			if used, rev := l.Uses(uses); used != nil || rev != uses {
				t.Error("the view watches other kinds than it did")
			}
		}()
		select {
		case <-told:
		case <-time.After(patience.For(time.Minute)):
			t.Error("who asks waits for the writer")
		}
	})
	<-told
	select {
	case <-changed:
	default:
		t.Error("who waits for a change was not told of one")
	}
	if l.Head() <= head || l.Changed(head) != closed || l.Changed(l.Head()) == closed {
		t.Errorf("revision %d is the last one, was %d", l.Head(), head)
	}
}

// TestUsesNeedNoLock: a reader gets the kinds that a view watches as of the last revision while
// the next one changes them, and while the lens is late.
func TestUsesNeedNoLock(t *testing.T) {
	c := newCrossroads(1_000, 1)
	l := c.large
	before, rev := l.Uses(0)
	ask := func(when string, since uint64, want int, wantRev uint64) {
		t.Helper()
		told := make(chan struct{})
		go func() {
			defer close(told)
			if used, of := l.Uses(since); len(used) != want || of != wantRev {
				t.Errorf("%s: %d kinds of revision %d, want %d of %d", when, len(used), of, want, wantRev)
			}
		}()
		select {
		case <-told:
		case <-time.After(patience.For(time.Minute)):
			t.Fatalf("%s: who asks waits for the writer", when)
		}
	}
	open := c.g.rev
	c.leaveLate(t, l, func() {
		l.Use(Kind{Kind: "Widget"}, Resource{Version: "v1", Resource: "widgets"})
		l.SetRoots(true, Walk{Direction: Down, Depth: 2})
		ask("while it is made", 0, len(before), rev)
	})
	ask("while it is late", 0, len(before), rev)
	ask("who knows them, while it is late", rev, 0, rev)
	c.drain()
	ask("after that", rev, len(before)+1, open)
	ask("once more", open, 0, open)
}

// TestNoChangeIsMissed: a reader that waits for each change after its own position reaches the
// last one.
func TestNoChangeIsMissed(t *testing.T) {
	const changes, readers = 2_000, 4
	c := newCrossroads(3, 1)
	l := c.small[0]
	first := l.Head()
	final, ended := uint64(0), make(chan struct{})
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			last, end := uint64(0), ended
			for known := first; known != last; {
				select {
				case <-l.Changed(known):
					known = l.Head()
				case <-end:
					last, end = final, nil
				case <-time.After(patience.For(time.Minute)):
					t.Errorf("nobody told of what came after revision %d", known)
					return
				}
			}
		})
	}
	for range changes / 2 {
		c.g.Update(func() { c.set("Pod", "shop", "pod-0", nil, nil) })
		c.g.Update(func() { c.set("Pod", "shop", "pod-0", nil, c.node) })
	}
	final = l.Head()
	close(ended)
	reading.Wait()
}

// TestNoWaitReturnsErrCommitting: while a lens is late, readers with NoWait get ErrCommitting, also readers of
// a part; a reader of another lens reads.
func TestNoWaitReturnsErrCommitting(t *testing.T) {
	c := newCrossroads(1_000, 1)
	parts := map[*Lens]*Narrowed{}
	for _, l := range []*Lens{c.large, c.small[0]} {
		parts[l] = l.Narrow(Narrowing{Roots: []Key{{Resource: Resource{Resource: "Node"}, Name: "node"}}, Walk: Walk{Direction: Both}})
	}
	c.leaveLate(t, c.large, func() { c.large.SetRoots(true, Walk{Direction: Down, Depth: 2}) })
	for l, part := range parts {
		var pos, partPos Position
		_, err := l.Read(&pos, 10, Reading{NoWait: true}, everything)
		_, partErr := part.Read(&partPos, 10, Reading{All: true, NoWait: true}, always, everything)
		if want := l == c.large; errors.Is(err, ErrCommitting) != want || errors.Is(partErr, ErrCommitting) != want {
			t.Errorf("reading said %v, and of a part %v; is the lens late: %v", err, partErr, want)
		}
	}
	c.drain()
	var pos Position
	if _, err := c.large.Read(&pos, 10, Reading{NoWait: true}, everything); err != nil {
		t.Errorf("once it is committed, reading said %v", err)
	}
}

// TestLateLensHasAllThatItLacked: after the commit of several revisions at once, a reader of the lens gets the
// changes of each of them, also an attribute of an arc alone. The lens forgets deleted elements as without a delay.
func TestLateLensHasAllThatItLacked(t *testing.T) {
	c := newCrossroads(3, 1)
	reader := client{picture: newPicture()}
	reader.changes(t, c.large)
	set := func(name, field string) {
		o := c.object("shop", name, nil, []Reference{{Type: Direct, To: Kind{Kind: "Node"}, Scope: ScopeCluster, Name: "node", Field: field}})
		o.Hash = c.g.nodes.at(nodeID(c.g.Find(c.sources["Pod"], "shop", name))).hash // other content stays
		c.g.Set(c.sources["Pod"], &o)
	}
	c.leaveLate(t, c.large, func() { set("pod-1", "first"); c.large.SetInferred(false) })
	c.g.Update(func() { set("pod-2", "second"); c.small[0].SetInferred(c.small[0].excludeInferred) })
	c.drain()
	reader.changes(t, c.large)
	fresh := client{picture: newPicture()}
	if diff := cmp.Diff(fresh.changes(t, c.large).String(), reader.String()); diff != "" || !strings.Contains(reader.String(), "second") {
		t.Errorf("the reader lacks changes (-new reader +this):\n%s", diff)
	}
	c.leaveLate(t, c.large, func() { c.large.Unuse(Kind{Kind: "Pod"}) })
	c.g.Update(func() { c.large.Forget(math.MaxUint64) })
	c.drain()
	if left := len(c.large.tombstones.order); left > 0 || c.large.Counts().Vertices != 1 {
		t.Errorf("%d tombstones are left, and %d vertices, want none and one", left, c.large.Counts().Vertices)
	}
}
