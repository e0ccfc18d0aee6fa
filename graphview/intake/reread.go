package intake

import (
	"context"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// makeStale makes Run reread the references of an object. The reasons: the watch missed a change that
// another watch may have seen (versionEvent); or labels and references have to be set again (Graph.Awaits), since
// costly rules were postponed (postponeRules), they were left out and now have room (Graph.RetryReferences), they are
// large, so that others would wait for them, or they lack a namespace because the kind of their target was
// cluster-scoped when they were read (Graph.Misplaced).
func (in *Intake) makeStale(f *Feed, name objectName, o queuedObject) {
	in.staleMu.Lock()
	defer in.staleMu.Unlock()
	in.stale.add(staleOf{f, name.namespace}, name, o)
	in.kick()
}

// staleOf has a turn among stale objects: the objects of a feed in one namespace. So the author of objects that
// change many references delays only those of the same namespace.
type staleOf struct {
	feed      *Feed
	namespace string
}

// kick makes Run reread stale objects and compare the fingerprints of all feeds. It does not block.
func (in *Intake) kick() {
	select {
	case in.kicks <- struct{}{}:
	default:
	}
}

// Run rereads stale objects, and all objects of kinds whose rules have changed. It reads them from
// their watches, and sends no requests. It blocks while the writer is behind, as watches do.
func (in *Intake) Run(ctx context.Context) error {
	retry := time.NewTicker(in.o.Retry)
	defer retry.Stop()
	var served *resources.Catalog
	for {
		catalog, replaced := in.o.Discovery.Current()
		if catalog != served {
			served = catalog
			in.o.Rules.Serve(servedKinds(catalog))
		}
		in.rereadFeeds(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-replaced:
		case <-in.kicks:
		case <-retry.C:
			in.o.Rules.RetryExceeded()
			if in.o.Writer.Try(ctx, func() { in.rereadReferences(in.o.Graph.RetryReferences()) }) != nil {
				return nil
			}
		}
	}
}

// RulesChanged makes Run check whether the rules of feeds have changed. It does not block.
func (in *Intake) RulesChanged() { in.kick() }

func servedKinds(catalog *resources.Catalog) *refs.Served {
	kinds := make(map[graph.Kind]graph.Scope)
	for _, r := range catalog.All() {
		kinds[KindOf(r)] = scopeOf(r)
	}
	return refs.NewServed(kinds)
}

// rereadReferences makes objects stale whose references alone are reread. Only the writer calls it.
func (in *Intake) rereadReferences(of []graph.Unread) {
	for _, u := range of {
		for _, source := range u.Sources {
			if f := in.bySource[source]; f != nil {
				in.makeStale(f, objectName{u.Namespace, u.Name}, queuedObject{})
			}
		}
	}
}

// rereadFeeds rereads stale objects, and all objects of feeds whose rules have changed. Stale
// objects wait for at most one feed.
func (in *Intake) rereadFeeds(ctx context.Context) {
	in.rereadObjects(ctx)
	for _, f := range in.Feeds() {
		before, now := f.readUnder, in.o.Rules.Current().Fingerprint(KindOf(f.resource))
		if now == before || f.watch.Key().Reduced || ctx.Err() != nil {
			continue
		}
		// Set before the objects are read, so that a change of rules during the reading is found later.
		f.readUnder = now
		f.reread(ctx, f.watch.Retained, nil)
		in.rereadObjects(ctx)
	}
}

// rereadObjects gives each feed and namespace with stale objects a turn. Run gives them further turns.
func (in *Intake) rereadObjects(ctx context.Context) {
	for range in.staleTurns() {
		in.staleMu.Lock()
		of, stale := in.stale.next(replayChunk)
		in.staleMu.Unlock()
		f := of.feed
		f.reread(ctx, func(ctx context.Context) ([]*watch.Object, error) {
			return f.watch.Find(ctx, func(yield func(namespace, name string) bool) {
				for of := range stale {
					if !yield(of.namespace, of.name) {
						return
					}
				}
			})
		}, stale)
	}
	if in.staleTurns() > 0 && ctx.Err() == nil {
		in.kick()
	}
}

// staleTurns returns the number of feeds and namespaces with stale objects.
func (in *Intake) staleTurns() int {
	in.staleMu.Lock()
	defer in.staleMu.Unlock()
	return len(in.stale.turns)
}

// reread finds the references of the objects that find returns again. It returns when the graph has the
// events. Taps evaluate only stale objects that are so marked, and objects whose fault changes.
func (f *Feed) reread(ctx context.Context, find func(context.Context) ([]*watch.Object, error), stale map[objectName]queuedObject) {
	objects, err := find(ctx)
	if err == nil {
		err = f.intake.runReplay(ctx, replay{watch: f.watch, objects: objects, owner: rules.Owner, event: func(o *watch.Decoded) writer.Event {
			ev := f.event(nil, o, nil)
			if ev == nil {
				return nil
			}
			ev.object.Urgency = graph.Unhurried
			return &rereadEvent{ev, stale[nameOf(o.Object)].withTaps}
		}})
	}
	if err != nil { // the watch has ended, and nothing is left to read
		f.intake.o.Logger.V(1).Info("Reading objects again ended early", "watch", f.watch.Key().String(), "error", err.Error())
	}
}

// rereadEvent is the event of an object that did not change, with its present references. Its watch may
// have been released before the writer applies the event.
type rereadEvent struct {
	*setEvent

	withTaps bool // see queuedObject
}

// Apply implements writer.Event. The backlogs evaluate the object, without a charge, if its consumers
// need a new verdict or a warning.
func (ev *rereadEvent) Apply() {
	f, name := ev.feed, objectName{ev.object.Namespace, ev.object.Name}
	in := f.intake
	if !ev.read.Retained() || f.source == 0 || in.o.Graph.Find(f.source, name.namespace, name.name) == 0 {
		return
	}
	ev.object.Version = ev.read.Version() // may be newer than when the object was read
	fault := f.faults[name]
	ev.setEvent.Apply()
	if ev.withTaps || f.faults[name] != fault {
		for t := range f.taps.For(name.namespace).Each {
			t.evaluator.enqueue(t, ev.read, true)
		}
	}
}
