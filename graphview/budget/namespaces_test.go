package budget

import "testing"

// TestNamespaces: a namespace pays for several uses from one account, which is forgotten with its last byte.
func TestNamespaces(t *testing.T) {
	l := NewLedger(100)
	n := NewNamespaces(l)
	if !n.Pay("shop", Names, 10) || !n.PayMore("shop", Contents, 20) || l.Total() != 30 {
		t.Fatalf("%d bytes, want 30", l.Total())
	}
	if room, most := n.Room("shop"), n.Most("shop", Contents); room != 20 || most != 40 {
		t.Errorf("room for %d bytes, at most %d of one use; want 20 and 40", room, most)
	}
	if n.Pay("shop", Names, 31) || n.PayMore("shop", Contents, 21) || l.Total() != 30 {
		t.Errorf("a namespace holds more than is free: %d bytes", l.Total())
	}
	if room := n.Room("other"); room != 35 {
		t.Errorf("another namespace may hold %d bytes, want 35", room)
	}
	if !n.PayMore("shop", Contents, -20) || !n.Pay("shop", Names, 0) || l.Total() != 0 || len(n.accounts) != 0 {
		t.Errorf("%d bytes in %d accounts at the end", l.Total(), len(n.accounts))
	}
}
