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

// TestUnread: a user with too many unread bytes is disconnected, and no other user is.
func TestUnread(t *testing.T) {
	u, ann, bob := newUnread(2*unreadFair), ownerOf("ann"), ownerOf("bob")
	if err := u.take(ann, 0, 2*unreadFair); err != nil {
		t.Fatal(err)
	}
	for name, owner := range map[string]budget.Owner{"a user": bob, "no user": {}} {
		if err := u.take(owner, 0, 1000); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := u.take(ann, 0, 1); err == nil {
		t.Error("ann has too much, and may have more")
	}
	if err := u.take(budget.Owner{}, unreadFair, 1); err == nil {
		t.Error("one channel has too much, and may have more")
	}
	u.give(ann, 2*unreadFair)
	u.give(bob, 1000)
	u.give(budget.Owner{}, 1000)
	if all := u.all.Load(); all != 0 || u.users.Owners() != 0 {
		t.Errorf("%d bytes of %d owners are left", all, u.users.Owners())
	}
	if err := u.take(ann, 0, int(unreadUserBytes.Limit())+1); err == nil {
		t.Error("ann may have more than a user may")
	}
}

// TestUnreadChannel: the channel of a subscriber that does not read is closed with a reason
// that permits a retry, since the view is not too large. Its unread bytes are released.
func TestUnreadChannel(t *testing.T) {
	s := newStage(t)
	s.client.unread = newUnread(1)
	s.set("shop", strings.Repeat("x", unreadFair))
	c := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newAnn("shop"), Owner: ownerOf("ann")})
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
	if closed.Reason != reason.TooManyRequests || !strings.Contains(closed.Message, "read faster") {
		t.Error(closed)
	}
	if left := s.client.unread.all.Load(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
	// Others are sent their graphs.
	s.set("bank", "small")
	other := s.open(t).Subscribe(delivery.SubscribeOptions{Access: newAnn("bank")})
	defer other.Close()
	if text, _ := next(t, other); !strings.Contains(text, "small") {
		t.Error(text)
	}
}
