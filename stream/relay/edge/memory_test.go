package edge

import (
	"fmt"
	"runtime"
	"testing"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// used is the memory of the process, without garbage.
func used() int {
	for range 3 { // stacks shrink by half each time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// TestIdleRelays: a relay at rest takes little memory at an edge and its holder together,
// which are one process here.
func TestIdleRelays(t *testing.T) {
	const views, most = 100, 128 << 10
	s := newStage(t)
	s.any = true
	s.set("shop", "a")
	read := func(name string) {
		t.Helper()
		r, err := s.client.Open(t.Context(), s.member, graphview.Name{Namespace: "shop", Name: name}, false)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Subscribe(delivery.SubscribeOptions{Access: newPerson("shop")})
		t.Cleanup(c.Close)
		next(t, c)
	}
	read("first") // what is made once is there
	before := used()
	for i := range views {
		read(fmt.Sprint("view-", i))
	}
	each := (used() - before) / views
	t.Logf("%d KiB for each of %d views", each>>10, views)
	if each > most {
		t.Errorf("%d KiB for each of %d views, want at most %d", each>>10, views, most>>10)
	}
}

// TestLargeMessages: a large message that several subscribers are sent at different times
// is held once, and is forgotten with the last of them.
func TestLargeMessages(t *testing.T) {
	s := newStage(t)
	s.setLarge("shop", "a", 4*largeBytes)
	s.set("shop", "b")
	var held []*delivery.Frame
	var channels []*Channel
	for range 5 {
		c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newPerson("shop")})
		channels = append(channels, c)
		for _, f := range frames(t, c) {
			if len(f.JSON) >= largeBytes {
				held = append(held, f)
			}
		}
	}
	if len(held) != 5 {
		t.Fatalf("%d large messages, want one for each subscriber", len(held))
	}
	for _, f := range held {
		if f != held[0] {
			t.Error("it is held more than once")
		}
	}
	runtime.KeepAlive(held)
	held = nil //nolint:ineffassign,wastedassign // the last references
	for _, c := range channels {
		c.Close()
	}
	channels = nil //nolint:ineffassign,wastedassign // likewise
	eventually(t, func() string {
		runtime.GC()
		if left := s.client.large.Len(); left > 0 {
			return fmt.Sprintf("%d messages without a reference are known", left)
		}
		return ""
	})
}
