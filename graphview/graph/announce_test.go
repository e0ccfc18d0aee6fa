package graph

import "testing"

// TestAnnouncementsAreOneChange: readers are notified once of all that a revision announces, although the
// lens does not change.
func TestAnnouncementsAreOneChange(t *testing.T) {
	c := newCrowd(0, 0)
	var l *Lens
	c.change(func() { l = c.newLens() })
	head := l.Head()
	changed := l.Changed(head)
	revised := c.g.Update(func() {
		for range 100 {
			l.Announce()
		}
	})
	if len(revised) != 1 || revised[0] != l || l.Head() != head {
		t.Fatalf("%d lenses changed, and revision %d, want one at revision %d", len(revised), l.Head(), head)
	}
	select {
	case <-changed:
		t.Error("readers are notified before the lens is published")
	default:
	}
	l.Publish()
	select {
	case <-changed:
	default:
		t.Error("readers are not notified")
	}
}
