package edge

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

func ownerOf(name string) budget.Owner { return budget.UserOwner(&user.DefaultInfo{Name: name}) }

// TestUnreadChannel: the channel of a subscriber that does not read is closed with a reason
// that permits a retry, since the view is not too large. Its unread bytes are released. Others are sent
// their graphs meanwhile.
func TestUnreadChannel(t *testing.T) {
	s := newStage(t)
	const size = 1 << 20
	s.client.o.Ledger = budget.NewLedger(size)
	s.set("shop", strings.Repeat("x", size))
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newPerson("shop"), Owner: ownerOf("ann")})
	defer c.Close()
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
	other := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newPerson("bank"), Owner: ownerOf("bob")})
	defer other.Close()
	if text, _ := next(t, other); !strings.Contains(text, "small") {
		t.Error(text)
	}
}

// TestRelieveChannel: while memory is short, the channel of the user with most unread bytes is closed.
func TestRelieveChannel(t *testing.T) {
	s := newStage(t)
	s.set("shop", strings.Repeat("x", 8<<10))
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newPerson("shop"), Owner: ownerOf("ann")})
	defer c.Close()
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
