package intake

import (
	"context"
	"maps"
	"slices"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// Lease is a lease of a watch, with the feed of that watch.
type Lease struct {
	*watch.Lease

	Feed *Feed
}

// Acquire leases the watch of a key, whose objects are of a resource, and reports whether it has started the
// watch. life ends when the consumers of all feeds must end. The caller calls Release, unless there is an error.
func (in *Intake) Acquire(ctx, life context.Context, key watch.Key, r resources.Resource) (l Lease, started bool, err error) {
	key.Kind, key.Namespaced = r.Kind, r.Namespaced
	in.feedsMu.Lock()
	defer in.feedsMu.Unlock()
	// The first event may arrive before Acquire returns, so Acquire creates the feed.
	l.Lease, err = in.o.Watches.Acquire(ctx, key, func(w *watch.Watch) watch.Handler {
		started = true
		in.feeds[w] = in.NewFeed(life, w, r)
		return in.feeds[w]
	})
	if err != nil {
		return Lease{}, false, err
	}
	l.Feed = in.feeds[l.Watch()]
	return l, started, nil
}

// Release ends a lease. With the last lease of a watch, it removes the feed, and the objects that only this
// feed saw, from the graph.
func (in *Intake) Release(l Lease) {
	if !l.Lease.Release() {
		return
	}
	// The watch has ended, and no consumer can lease it again.
	in.feedsMu.Lock()
	delete(in.feeds, l.Watch())
	in.feedsMu.Unlock()
	in.o.Writer.Do(l.Feed.Remove)
}

// Feeds returns the feeds whose watches have leases.
func (in *Intake) Feeds() []*Feed {
	in.feedsMu.Lock()
	defer in.feedsMu.Unlock()
	return slices.Collect(maps.Values(in.feeds))
}
