package weakmap

import (
	"runtime"
	"testing"

	"graphview.dev/test/patience"
)

func TestMap(t *testing.T) {
	var m Map[string, [64]byte]
	if got := m.Get("a"); got != nil || m.Len() != 0 {
		t.Fatalf("an empty map has %v", got)
	}
	held := new([64]byte)
	if got := m.Add("held", held); got != held {
		t.Errorf("Add returns %p, want %p", got, held)
	}
	if got := m.Add("held", new([64]byte)); got != held {
		t.Errorf("Add replaces a value that is held: %p", got)
	}
	if added := m.Add("dropped", new([64]byte)); added == nil || m.Get("dropped") != added || m.Len() != 2 {
		t.Errorf("added %p; %d entries", added, m.Len())
	}
	patience.Await(t, "a collection", func() bool {
		runtime.GC()
		return m.Len() <= 1
	})
	if m.Get("dropped") != nil || m.Get("held") != held || m.Len() != 1 {
		t.Errorf("after a collection there are %d entries, dropped %p, held %p", m.Len(), m.Get("dropped"), m.Get("held"))
	}
	again := new([64]byte)
	if got := m.Add("dropped", again); got != again {
		t.Errorf("Add after a collection returns %p, want %p", got, again)
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(again)
}
