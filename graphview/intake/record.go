package intake

import (
	"cmp"
	"slices"
	"time"
	"unique"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/watch"
)

// observation has the facts about a change that the watch's goroutine finds for the history, while the content of the
// object is uncompressed.
type observation struct {
	health health.Health
	// before is the body of the version that the watch had before, 0 for none. summary is its summary and
	// paths are the fields that differ, if the body does.
	before  uint64
	created int64 // of an object that is new to the watch, in microseconds since 1970
	summary string
	paths   []history.Path
	more    int
	// fields is the fingerprint of the object, 0 if it is that of the version before.
	fields uint64
}

// contain calls read, which reads objects for the history. A panic is logged, and neither the watch nor the consumers
// notice it.
func (f *Feed) contain(read func()) {
	var err error
	defer func() { f.intake.o.Processors.LogPanic(err, f.resource.String()) }()
	defer panics.Recover(&err)
	read()
}

// observe compares an object with the version that it replaces, unless only its status changed.
func (f *Feed) observe(o *watch.Decoded, n *observation) {
	if f.intake.o.History != nil {
		f.contain(func() { f.differ(o, n) })
	}
}

// differ is observe with a history.
func (f *Feed) differ(o *watch.Decoded, n *observation) {
	before := o.Before
	if f.intake.o.History.KeepsStates() && (before == nil || before.Body() != o.Body() || isSecret(f.resource)) {
		n.fields = f.fingerprint(o)
	}
	if before == nil {
		n.created = createdAt(o)
		return
	}
	n.before = before.Body()
	if before.LacksContent() || o.LacksContent() {
		return
	}
	changed := n.before != o.Body()
	if changed {
		n.paths, n.more = f.compare(before, o)
	}
	if changed && history.Summarized(n.paths, n.more) || before.Mark() != o.Mark() {
		n.summary = f.summaryOf(before)
	}
}

// fingerprint returns the fingerprint of an object, 0 if there is no content. That of a Secret, whose data
// the watch does not retain, is its version.
func (f *Feed) fingerprint(o *watch.Decoded) uint64 {
	if isSecret(f.resource) {
		return o.Version()
	}
	json, err := o.JSON()
	if err != nil || json == nil {
		return 0
	}
	return history.Fingerprint(f.resource.Kind, json)
}

// creationTime is the shape of the part that createdAt reads.
var creationTime = func() *jsontree.Shape {
	var shape jsontree.Shape
	shape.Field("metadata").Field("creationTimestamp")
	return &shape
}()

// createdAt returns when an object was created, or now if it does not say.
func createdAt(o *watch.Decoded) int64 {
	if part, err := o.Part(creationTime); err == nil {
		metadata, _ := part["metadata"].(map[string]any)
		text, _ := metadata["creationTimestamp"].(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at.UnixMicro()
		}
	}
	return time.Now().UnixMicro()
}

// compare returns the fields that differ between two versions of an object.
func (f *Feed) compare(before *watch.Object, after *watch.Decoded) (paths []history.Path, more int) {
	now, err := after.JSON()
	_ = before.ReadJSON(func(old []byte) error {
		if now != nil && err == nil {
			paths, more = history.Compare(f.resource.Kind, old, now)
			return nil
		}
		return after.ReadJSON(func(now []byte) error { // a Secret: there is only its metadata
			paths, more = history.Compare(f.resource.Kind, old, now)
			return nil
		})
	}) // an error means corrupted memory, which the watch reports
	return paths, more
}

// podKind is the kind whose summary depends on its status beside the health: on whether the pod is pending or has
// ended.
var podKind = graph.Kind{Kind: "Pod"}

// markPhase marks a pod with that.
func markPhase(o *watch.Object, parts *jsontree.Parts) {
	phase, _ := parts.Object().At("status", "phase").Text()
	switch string(phase) {
	case "Pending":
		o.SetMark(1)
	case "Succeeded", "Failed":
		o.SetMark(2)
	}
}

// summaryOf returns the summary of an object as JSON, "" if it cannot be made.
func (f *Feed) summaryOf(o delivery.Object) (summary string) {
	f.contain(func() {
		text, _ := delivery.Summarize(f.resource.Group, o, false)
		summary = string(text)
	})
	return summary
}

// recorder writes the history of the graph. Only the writer uses it.
type recorder struct {
	log   *history.Log
	graph *graph.Graph
	// states are the objects as of their last entry.
	states nodePages[recorded]
	// pending are the entries of the open revision, byNode the ones for the arcs of each node, and flipped
	// the objects that appeared or disappeared.
	pending []*history.Entry
	byNode  map[graph.NodeID]*history.Entry
	flipped map[target]bool
	kept    kept
}

// recorded is the state of an object as the history has it. There is one for each object, and most healths are equal.
type recorded struct {
	hash uint64 // 0: none
	of   unique.Handle[history.Health]
}

// health returns the health, invalid if there is no state.
func (r recorded) health() history.Health {
	if r.hash == 0 {
		return history.Health{}
	}
	return r.of.Value()
}

// target is the name of an object to which an arc leads.
type target struct {
	kind            graph.Kind
	namespace, name string
}

func newRecorder(log *history.Log, g *graph.Graph) *recorder {
	if log == nil {
		return nil
	}
	r := &recorder{log: log, graph: g, byNode: make(map[graph.NodeID]*history.Entry), flipped: make(map[target]bool)}
	r.kept.on = log.KeepsStates()
	g.ObserveRevisions(r.commit)
	return r
}

func (r *recorder) state(id graph.NodeID) *recorded { return r.states.at(id) }

// nodePages has a value for each node. It grows page by page, as the nodes of the graph do: nothing is copied, and there is
// little room to spare.
type nodePages[T any] []*[1 << pageBits]T

const pageBits = 11 // the allocator has no room to spare for pages of 32 KiB

func (b *nodePages[T]) at(id graph.NodeID) *T {
	for int(id>>pageBits) >= len(*b) {
		*b = append(*b, new([1 << pageBits]T))
	}
	return &(*b)[id>>pageBits][id&(1<<pageBits-1)]
}

// entry adds an entry of the open revision.
func (r *recorder) entry(f *Feed, id graph.NodeID, e history.Entry) {
	e.Kind, e.From = f.resource.Kind, f.uncertainSince()
	e.Object.Resource = ResourceOf(f.resource)
	r.pending = append(r.pending, &e)
	if r.byNode[id] == nil || r.byNode[id].Op != history.Removed {
		r.byNode[id] = &e
	}
	if e.Op != history.Changed {
		r.flipped[target{KindOf(f.resource), e.Object.Namespace, e.Object.Name}] = true
	}
}

// set records that a feed set an object, unless the graph has a newer version or the object is as before.
func (r *recorder) set(ev *setEvent, id graph.NodeID) {
	f, o := ev.feed, &ev.object
	if r == nil || id == 0 || !r.graph.Has(id, o.Hash) {
		return
	}
	was, now := r.state(id), recorded{o.Hash, unique.Make(history.HealthOf(ev.observed.health))}
	before := *was
	if before == now {
		return
	}
	r.kept.set(ev, id)
	if *was = now; before.hash == 0 && o.Namespace != "" {
		r.log.Occupy(o.Namespace, cmp.Or(ev.observed.created, time.Now().UnixMicro()))
	}
	e := history.Entry{Object: graph.Key{Namespace: o.Namespace, Name: o.Name}, UID: o.UID, Before: before.health(), After: now.health()}
	switch {
	case before.hash == 0 && r.resume(ev, id):
	case before.hash == 0 && f.begun.Load() == 0:
		// The watch lists for the first time: the object may be old.
	case before.hash == 0:
		e.Op = history.Added
		r.entry(f, id, e)
	default:
		if before.hash != now.hash && ev.observed.before != 0 {
			e.Paths, e.More, e.Summary = ev.observed.paths, ev.observed.more, ev.observed.summary
		}
		if len(e.Paths) > 0 || e.Summary != "" || before.of != now.of {
			r.entry(f, id, e)
		}
	}
}

// changedSecret records that the data of a Secret changed. The watch retains nothing of the data.
func (r *recorder) changedSecret(f *Feed, id graph.NodeID, o *watch.Object) {
	if r == nil || !isSecret(f.resource) || id == 0 || r.state(id).hash == 0 {
		return
	}
	health := r.state(id).health()
	r.kept.setFields(id, o.Version())
	r.entry(f, id, history.Entry{
		Object: graph.Key{Namespace: o.Namespace(), Name: o.Name()}, UID: o.UID(), Before: health, After: health,
		Paths: []history.Path{{Path: "data", Op: history.Changed}},
	})
}

// remove records that an object is about to be removed.
func (r *recorder) remove(ev *deleteEvent, id graph.NodeID) {
	if r == nil || id == 0 || len(r.graph.Sources(id)) > 1 {
		return
	}
	was := r.state(id)
	e := history.Entry{
		Op: history.Removed, Object: graph.Key{Namespace: ev.namespace, Name: ev.name}, UID: ev.uid, Before: was.health(), Summary: ev.summary,
		Views: ev.feed.viewsOf(id, ev.namespace),
	}
	r.forget(id, r.graph.Key(id))
	r.entry(ev.feed, id, e)
	if KindOf(ev.feed.resource) == graph.NamespaceKind && ev.feed.watch.Key().LabelSelector == "" {
		r.log.End(ev.name)
	}
}

// forget drops the state of an object that is no longer in the graph.
func (r *recorder) forget(id graph.NodeID, key graph.Key) {
	was := r.state(id)
	if was.hash == 0 {
		return
	}
	if key.Namespace != "" {
		r.log.Vacate(key.Namespace)
	}
	r.kept.forget(id, key)
	*was = recorded{}
}

// viewsOf returns the marks of the consumers that show an object and not all objects of its resource.
func (f *Feed) viewsOf(id graph.NodeID, namespace string) (marks []uint32) {
	for t := range f.taps.For(namespace).Each {
		if e := t.evaluator; t.State() != Closed && t.role.shows() && e.mark != 0 && !e.whole.Load() && e.lens.Shows(id) {
			marks = append(marks, e.mark)
		}
	}
	return marks
}

// commit writes the entries of a revision, with the arcs that it changed.
func (r *recorder) commit(revision *graph.Revision) {
	for delta := range revision.Arcs {
		if delta.Before.Equal(&delta.After) && !delta.TargetFlipped {
			continue
		}
		if delta.TargetFlipped && !r.flipped[target{delta.To, delta.Namespace, delta.Name}] {
			continue // its watch began or ended
		}
		e := r.byNode[delta.From]
		if e == nil {
			if !r.graph.Alive(delta.From) {
				continue // so did the watch of the source
			}
			health := r.state(delta.From).health()
			e = &history.Entry{Object: delta.Key, Kind: revision.KindOf(delta.From), Before: health, After: health}
			r.byNode[delta.From], r.pending = e, append(r.pending, e)
		}
		e.Arcs = append(e.Arcs, history.Arc{
			Type: delta.Type, To: delta.To, Namespace: delta.Namespace, Name: delta.Name, Before: delta.Before, After: delta.After, Implied: delta.TargetFlipped,
		})
	}
	for id, key := range revision.Died {
		r.forget(id, key)
	}
	states := r.takeStates()
	if len(r.pending)+len(states) == 0 {
		return
	}
	r.log.Append(r.pending, states...)
	clear(r.pending)
	r.pending = r.pending[:0]
	clear(r.byNode)
	clear(r.flipped)
}

// recordState records when the watch has its objects for the first time, and since when it may lack some.
// Only the writer calls it.
func (f *Feed) recordState(s watch.State) {
	switch now := time.Now().UnixMicro(); {
	case s.Synced && s.Err == nil:
		if f.begun.Load() == 0 {
			f.begun.Store(max(now, f.intake.recorder.settle(f)))
		}
		f.certain()
	case f.begun.Load() != 0 && f.interrupted.CompareAndSwap(0, now):
		f.intake.recorder.interrupt(1)
	}
}

// certain records that the feed does not lack changes, or no longer matters.
func (f *Feed) certain() {
	if f.interrupted.Swap(0) != 0 {
		f.intake.recorder.interrupt(-1)
	}
}

// uncertainSince returns the earliest time of the change that the writer applies now, 0 if the watch is
// synced.
func (f *Feed) uncertainSince() int64 { return f.interrupted.Load() }

// Begun returns the time from which the feed has the history of its objects, in microseconds since 1970,
// and 0 if it has none yet.
func (f *Feed) Begun() int64 { return f.begun.Load() }

// Feeds reports whether a consumer takes objects from the feed.
func (f *Feed) Feeds(e *Evaluator) bool {
	return slices.ContainsFunc(f.taps.All(), func(t *Tap) bool { return t.evaluator == e })
}
