package graphview

import (
	"context"
	"fmt"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/watch"
)

// acquire leases a watch for a tap of a view, and connects the tap to its feed.
func (e *Engine) acquire(ctx context.Context, t *tap, v *View) error {
	key := t.need.Key
	key.Kind, key.Namespaced = t.need.Resource.Kind, t.need.Resource.Namespaced
	e.mu.Lock()
	defer e.mu.Unlock()
	// The first event may come before Acquire returns, so the feed exists before.
	lease, err := e.watches.Acquire(ctx, key, func(w *watch.Watch) watch.Handler {
		demand := t.need.DemandKey()
		f := &feed{demand: demand, Feed: e.intake.NewFeed(e.life, w, t.need.Resource, func() map[string]bool {
			return e.shared.Begin(demand, w, time.Now())
		})}
		e.feeds[w] = f
		e.schemaReader.Kick()
		return f
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.need.Key, err)
	}
	t.lease, t.feed = lease, e.feeds[lease.Watch()]
	t.feed.leases++
	t.Tap = intake.NewTap(v.evaluator, t.feed.Feed, t.role)
	return nil
}

// giveBack releases the lease of a tap. With the last lease of a feed, it removes the objects that
// only this feed saw from the graph.
func (e *Engine) giveBack(t *tap) {
	t.lease.Release()
	// Counted after Release: with no lease left, each one has been released, the watch has ended,
	// and no view can lease it any more.
	e.mu.Lock()
	t.feed.leases--
	last := t.feed.leases == 0
	if last {
		delete(e.feeds, t.feed.Watch())
	}
	e.mu.Unlock()
	if last {
		e.shared.End(t.feed.demand, t.feed.Watch())
		e.writer.Do(t.feed.Remove)
	}
}
