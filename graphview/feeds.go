package graphview

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// acquire leases a watch for a tap and makes the tap part of its feed.
func (e *Engine) acquire(ctx context.Context, t *tap) error {
	key := t.need.Key
	key.Kind, key.Namespaced = t.need.Resource.Kind, t.need.Resource.Namespaced
	e.mu.Lock()
	defer e.mu.Unlock()
	// The first event may come before Acquire returns, so the feed is there first.
	lease, err := e.watches.Acquire(ctx, key, func(w *watch.Watch) watch.Handler {
		f := newFeed(e.life, e, w, t.need)
		e.feeds[w] = f
		e.schemaReader.Kick()
		return f
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.need.Key, err)
	}
	t.lease, t.feed = lease, e.feeds[lease.Watch()]
	t.feed.leases++
	return nil
}

// giveBack returns a tap's lease and, with the feed's last lease, takes what only
// that feed saw out of the graph.
func (e *Engine) giveBack(t *tap) {
	t.lease.Release()
	// Counted down only now: with none left, every lease has been given back,
	// the watch has ended, and nobody can lease it any more.
	e.mu.Lock()
	t.feed.leases--
	last := t.feed.leases == 0
	if last {
		delete(e.feeds, t.feed.watch)
	}
	e.mu.Unlock()
	if last {
		e.shared.End(t.feed.demand, t.feed.watch)
		e.writer.Do(func() {
			e.removeReleases(t.feed)
			if t.feed.source != 0 {
				e.graph.RemoveSource(t.feed.source)
				delete(e.bySource, t.feed.source)
			}
		})
	}
}

// allFeeds returns the feeds that there are.
func (e *Engine) allFeeds() []*feed {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.feeds))
}

// watchedResources returns the resources of the feeds.
func (e *Engine) watchedResources() []resources.Resource {
	var watched []resources.Resource
	for _, f := range e.allFeeds() {
		watched = append(watched, f.resource)
	}
	return watched
}

func kindOf(r resources.Resource) graph.Kind { return graph.Kind{Group: r.Group, Kind: r.Kind} }

func resourceOf(r resources.Resource) graph.Resource {
	return graph.Resource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}
