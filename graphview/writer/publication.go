package writer

import (
	"cmp"
	"runtime"
	"time"

	"graphview.dev/graphview/graph"
)

// Follower stands for the readers of a lens. The writer calls its methods, which must not block. The
// engine's Follower is the follower of a graphview.View.
type Follower interface {
	// Subscribers returns the number of readers that wait for changes.
	Subscribers() int
	// Told returns the number of readers that were notified and have not run since.
	Told() int
	// Arrived is called before readers are notified of a revision, with the time when the first of
	// the changes since the last notification was received.
	Arrived(head uint64, received time.Time)
	// Published is called after readers were notified.
	Published()
	// Walked is called if the commit of the lens explored from its roots to a depth, or made many visits, with
	// their number: at most once per batch, because the number of revisions of a batch depends on other lenses.
	Walked(visits int)
}

// Follow adds the follower of a lens. Call it in an event.
func (w *Writer) Follow(l *graph.Lens, f Follower) {
	w.followers[l] = &throttle{lens: l, follower: f}
}

// Unfollow removes the follower of a lens. Call it in an event.
func (w *Writer) Unfollow(l *graph.Lens) {
	if p := w.followers[l]; p != nil {
		p.waits = false
		delete(w.followers, l)
	}
}

// lensChanged is called for each lens that a revision changed. It reports whether the graph notifies
// readers of the lens at once.
func (w *Writer) lensChanged(l *graph.Lens, head uint64) (publish bool) {
	p := w.followers[l]
	if p == nil {
		return true
	}
	return w.publications.publishNow(p, head, cmp.Or(w.late[l], w.received))
}

// Each notified subscriber writes a message. So the time between two publications of a lens is at least the
// cost of one notification and write, times the number of its subscribers, and the next one also waits until the
// subscribers that were notified have run: the less processor time there is, the rarer are publications, for
// all subscribers alike. One that is stuck waits for its peer and not for a processor; maxRest bounds the rest.
const (
	perSubscriber = 55 * time.Microsecond
	maxPace       = 55 * time.Millisecond
	maxRest       = time.Second
)

// throttle controls when a lens may be published again.
type throttle struct {
	lens        *graph.Lens
	follower    Follower
	subscribers int       // as of the last publication
	nextAt      time.Time // of the next one
	throttled   bool      // nextAt is in the future
	restsUntil  time.Time // at the latest
	// waits: the lens has changed since the last publication. received is the time when the first of
	// these changes was received.
	waits    bool
	received time.Time
	walked   uint64 // the last batch for which Walked was called
}

// publications are the lenses that were published recently.
type publications struct {
	throttled   []*throttle
	subscribers int         // of the throttled lenses
	nextAt      time.Time   // the earliest of the throttled lenses; zero if there are none
	published   []*throttle // since the last call of rest
	notified    bool        // subscribers, since the last call of yield
}

// publishNow reports whether a changed lens is published with the revision. A throttled lens is not.
func (q *publications) publishNow(p *throttle, head uint64, received time.Time) bool {
	if p.throttled {
		if !p.waits {
			p.waits, p.received = true, received
		}
		return false
	}
	p.follower.Arrived(head, received)
	q.published = append(q.published, p)
	return true
}

// publish publishes the lenses that are due, and returns the time until the next ones are; 0 if
// there are none.
func (q *publications) publish() time.Duration {
	if now := time.Now(); !q.nextAt.IsZero() && !now.Before(q.nextAt) {
		q.publishDue(now)
	}
	if len(q.published) > 0 {
		q.rest()
	}
	if q.nextAt.IsZero() {
		return 0
	}
	return max(1, time.Until(q.nextAt))
}

func (q *publications) publishDue(now time.Time) {
	throttled := q.throttled
	q.throttled, q.nextAt = throttled[:0], time.Time{}
	for _, p := range throttled {
		if told := p.follower.Told(); told > 0 && !now.Before(p.nextAt) && now.Before(p.restsUntil) {
			p.nextAt = now.Add(pace(told))
		}
		if now.Before(p.nextAt) {
			q.add(p)
			continue
		}
		q.subscribers -= p.subscribers
		p.throttled = false
		if p.waits {
			p.waits = false
			p.follower.Arrived(p.lens.Head(), p.received)
			p.lens.Publish()
			q.published = append(q.published, p)
		}
	}
	clear(throttled[len(q.throttled):])
}

// add adds a throttled lens.
func (q *publications) add(p *throttle) {
	q.throttled = append(q.throttled, p)
	if q.nextAt.IsZero() || p.nextAt.Before(q.nextAt) {
		q.nextAt = p.nextAt
	}
}

// rest makes the published lenses rest until they are due again. Lenses without subscribers do not.
func (q *publications) rest() {
	rest := q.published[:0]
	for _, p := range q.published {
		p.follower.Published()
		if p.subscribers = p.follower.Subscribers(); p.subscribers > 0 {
			rest = append(rest, p)
			q.subscribers += p.subscribers
		}
	}
	q.notified = q.notified || len(rest) > 0
	now, lenses := time.Now(), len(q.throttled)+len(rest)
	for _, p := range rest {
		// The lenses together notify at most twice as many subscribers as one processor can serve.
		// No lens waits longer than if all were notified at the same time.
		subscribers := min(q.subscribers, lenses*p.subscribers)
		p.nextAt, p.restsUntil, p.throttled = now.Add(pace(subscribers)), now.Add(maxRest), true
		q.add(p)
	}
	clear(q.published)
	q.published = q.published[:0]
}

// pace returns the time that a number of subscribers takes.
func pace(subscribers int) time.Duration {
	return min(time.Duration(subscribers)*perSubscriber, maxPace)
}

// yield lets the notified subscribers run, if there are any since its last call.
func (q *publications) yield() {
	if q.notified {
		q.notified = false
		runtime.Gosched()
	}
}
