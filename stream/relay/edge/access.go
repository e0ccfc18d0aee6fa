package edge

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// pseudonym is the name that the holder charges instead of a user's.
func pseudonym(owner budget.Owner) string {
	sum := sha256.Sum256([]byte("graphview relay " + owner.String()))
	return "relayed:" + base64.RawURLEncoding.EncodeToString(sum[:12])
}

// follow tells the holder what the subscriber may see now. If an answer has changed, what
// was sent does not count any more, and the subscriber begins again.
func (c *Channel) follow() {
	changed := false
	select {
	case <-c.revoked:
		changed = true
		c.revoked = c.access.Changed()
	default:
	}
	rights, r := c.access.Rights(), c.relay
	digest := rights.Digest()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case digest == c.digest, c.err != nil:
	case changed:
		c.closeLocked()
		c.openLocked(rights)
	default:
		told := r.answersLocked(rights, c.rights)
		r.sayLocked(wire.AppendControl(nil, wire.Tell, c.number, told))
		r.told[digest]++
		r.forgetAnswersLocked(c.digest)
		c.rights, c.digest = rights, digest
		c.asked = slices.DeleteFunc(c.asked, func(p access.Place) bool {
			_, known := rights.Allowed(p)
			return known
		})
	}
}

// answersLocked returns what the holder has to be told to have rights, if it has those of
// before, which may be nil.
func (r *Relay) answersLocked(rights, before delivery.Rights) wire.Answers {
	a := wire.Answers{Digest: rights.Digest()}
	if r.told[a.Digest] > 0 {
		a.Of = a.Digest
		return a
	}
	if before != nil {
		a.Of = before.Digest()
	}
	recalled, ok := rights.(delivery.EnumerableRights)
	if !ok {
		return a
	}
	for _, p := range recalled.Places() {
		if before != nil {
			if _, known := before.Allowed(p); known {
				continue
			}
		}
		place := wire.PlaceOf(p)
		place.Allowed, _ = rights.Allowed(p)
		a.Places = append(a.Places, place)
	}
	return a
}

func (r *Relay) forgetAnswersLocked(digest string) {
	if r.told[digest]--; r.told[digest] == 0 {
		delete(r.told, digest)
	}
}

// resolve finds answers, which follow tells the holder.
func (c *Channel) resolve(ctx context.Context, asked []access.Place) error {
	err := c.access.Resolve(ctx, asked)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		// The next call finds the question again.
		c.relay.mu.Lock()
		defer c.relay.mu.Unlock()
		c.asked = slices.Concat(asked, c.asked)
		return ctx.Err()
	default:
		return &delivery.ClosedError{Reason: reason.Unavailable, Message: "your permissions cannot be checked now; try again later"}
	}
}

// As is the access of a user about whom the other side decides: a gateway, which asks its
// own API server. The edge has no answers of its own, so none are sent.
type As struct{ User wire.User }

var errOwnAnswers = errors.New("the other cluster asks for answers that only its own API server has")

// Rights implements delivery.Access.
func (a As) Rights() delivery.Rights { return unanswered{} }

// Changed implements delivery.Access: never.
func (a As) Changed() <-chan struct{} { return nil }

// Resolve implements delivery.Access. A gateway never asks.
func (a As) Resolve(context.Context, []access.Place) error { return errOwnAnswers }

// unanswered are rights without answers.
type unanswered struct{}

// Allowed implements delivery.Rights.
func (unanswered) Allowed(access.Place) (allowed, known bool) { return false, false }

// Digest implements delivery.Rights.
func (unanswered) Digest() string { return "" }
