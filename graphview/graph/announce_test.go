package graph

import "testing"

// TestAnnouncementsAreOneChange: readers are notified once of all that a revision announces, although the
// lens does not change.
func TestAnnouncementsAreOneChange(t *testing.T) {
	c := newCrowd(0, 0)
	var l *Lens
	c.change(func() { l = c.newLens() })
	head, notified := l.Head(), 0
	c.g.ObserveLenses(func(*Lens, uint64) bool { notified++; return true })
	changed := l.Changed(head)
	c.g.Update(func() {
		for range 100 {
			l.Announce()
		}
		select {
		case <-changed:
			t.Error("readers are notified before the revision ends")
		default:
		}
	})
	select {
	case <-changed:
	default:
		t.Error("readers are not notified")
	}
	if notified != 1 || l.Head() != head {
		t.Errorf("%d notifications, and revision %d, want 1 of revision %d", notified, l.Head(), head)
	}
}
