package edge

import (
	"sync/atomic"

	"graphview.dev/graphview/budget"
)

var (
	unreadBytes     = budget.Declare("relay_unread_bytes", "bytes that other replicas have sent and that no subscriber has taken yet", 512<<20)
	unreadUserBytes = budget.Declare("relay_unread_bytes_per_user", "bytes that other replicas have sent and that the subscribers of one user, or of the ServiceAccounts of one namespace, have not taken yet", 128<<20)
)

// unreadFair is the number of bytes that each user may have unread even if all users together exceed
// the limit.
const unreadFair = 4 << 20

// unread counts what holders have sent and channels have not been polled for.
type unread struct {
	limit int64
	users *budget.Shares[budget.Owner]
	all   atomic.Int64
}

func newUnread(limit int64) *unread {
	return &unread{limit: limit, users: budget.NewShares[budget.Owner](unreadUserBytes)}
}

// take counts n more bytes of an owner, zero if that is not known, whose channel has
// some waiting already. The error is that they are too many.
func (u *unread) take(owner budget.Owner, waiting, n int) error {
	held := int64(waiting)
	if owner != (budget.Owner{}) {
		if err := u.users.Take(owner, n); err != nil {
			return err
		}
		held = u.users.Held(owner) - int64(n)
	}
	if all := u.all.Add(int64(n)); all > u.limit && held+int64(n) > unreadFair {
		u.give(owner, n)
		return unreadBytes.Exceed()
	}
	return nil
}

func (u *unread) give(owner budget.Owner, n int) {
	if owner != (budget.Owner{}) {
		u.users.Give(owner, n)
	}
	u.all.Add(-int64(n))
}
