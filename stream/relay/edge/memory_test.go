package edge

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
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

func ownerOf(name string) budget.Owner { return budget.UserOwner(&user.DefaultInfo{Name: name}) }

// TestUnreadChannel: the channel of a subscriber that does not read is closed with a reason
// that permits a retry, since the view is not too large. Its unread bytes are released. Others are sent
// their graphs meanwhile.
func TestUnreadChannel(t *testing.T) {
	s := newStage(t)
	const size = 1 << 20
	s.client.o.Ledger = budget.NewLedger(size)
	s.set("shop", strings.Repeat("x", size))
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop"), Owner: ownerOf("ann")})
	var closed *delivery.ClosedError
	for {
		_, err := c.Next(t.Context())
		if errors.As(err, &closed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if closed.Reason != reason.TooManyRequests || !strings.Contains(closed.Message, "read faster") || !strings.Contains(closed.Message, "user ann") {
		t.Error(closed)
	}
	if left := s.client.o.Ledger.Total(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
	// An owner that holds its share leaves room for others.
	ann := s.client.o.Ledger.Account(ownerOf("ann"))
	if err := ann.Set(budget.Messages, size/2); err != nil {
		t.Fatal(err)
	}
	s.set("bank", "small")
	other := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("bank"), Owner: ownerOf("bob")})
	if text, _ := next(t, other); !strings.Contains(text, "small") {
		t.Error(text)
	}
}

// TestRelieveChannel: while memory is short, the channel of the user with most unread bytes is closed.
func TestRelieveChannel(t *testing.T) {
	s := newStage(t)
	s.set("shop", strings.Repeat("x", 8<<10))
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop"), Owner: ownerOf("ann")})
	next(t, c)
	s.set("shop", strings.Repeat("y", 8<<10))
	for s.client.o.Ledger.Total() == 0 {
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	large := s.client.o.Ledger.Account(ownerOf("ann")) // an owner that holds little is spared
	if err := large.Set(budget.Elements, large.Most(budget.Elements)/2); err != nil {
		t.Fatal(err)
	}
	if owner, ok := s.client.o.Ledger.Relieve(); !ok || owner != ownerOf("ann") {
		t.Fatalf("%q gives back", owner)
	}
	large.Close()
	var closed *delivery.ClosedError
	if _, err := c.Next(t.Context()); !errors.As(err, &closed) || closed.Reason != reason.TooManyRequests {
		t.Errorf("it ends with %v", err)
	}
	if left := s.client.o.Ledger.Total(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
}
