package intake

import (
	"cmp"
	"hash/fnv"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/watch"
)

// kept has the parts of states in the history that recorded and the graph lack, if the history keeps states.
type kept struct {
	on      bool
	objects nodePages[keptObject]
	// changed are the nodes whose states changed in the open revision, and gone the objects that are no
	// longer known.
	changed []graph.NodeID
	gone    []history.State
}

type keptObject struct {
	feed    *Feed
	fields  uint64
	changed bool // the node is in kept.changed
}

func (k *kept) at(id graph.NodeID) *keptObject { return k.objects.at(id) }

// set records the state of an object.
func (k *kept) set(ev *setEvent, id graph.NodeID) {
	if !k.on {
		return
	}
	o := k.at(id)
	o.feed, o.fields = ev.feed, cmp.Or(ev.observed.fields, o.fields)
	k.change(id)
}

// setFields records the fingerprint of an object.
func (k *kept) setFields(id graph.NodeID, fields uint64) {
	if k.on {
		k.at(id).fields = fields
		k.change(id)
	}
}

func (k *kept) change(id graph.NodeID) {
	if o := k.at(id); !o.changed {
		o.changed = true
		k.changed = append(k.changed, id)
	}
}

// same records that the history has the state of an object as it is.
func (k *kept) same(id graph.NodeID) {
	if n := len(k.changed); n > 0 && k.changed[n-1] == id {
		k.at(id).changed = false
		k.changed = k.changed[:n-1]
	}
}

// forget records that an object is no longer known. At the end of the process all are still known to the history.
func (k *kept) forget(id graph.NodeID, key graph.Key) {
	if !k.on {
		return
	}
	o := k.at(id)
	if f := o.feed; f != nil && f.life.Err() == nil {
		k.gone = append(k.gone, history.State{Object: key, Gone: true})
	}
	*o = keptObject{changed: o.changed}
}

// takeStates returns the states that changed in a revision.
func (r *recorder) takeStates() (all []history.State) {
	k := &r.kept
	if len(k.changed)+len(k.gone) == 0 {
		return nil
	}
	all = append(all, k.gone...)
	for _, id := range k.changed {
		o := k.at(id)
		o.changed = false
		if o.feed != nil {
			all = append(all, r.keptState(id))
		}
	}
	clear(k.gone)
	k.changed, k.gone = k.changed[:0], k.gone[:0]
	return all
}

// keptState returns the state of an object in the graph that a feed set.
func (r *recorder) keptState(id graph.NodeID) history.State {
	o := r.kept.at(id)
	s := history.State{Object: r.graph.Key(id), Fields: o.fields, Health: r.state(id).health(), Watch: o.feed.mark}
	if content, ok := r.graph.Payload(id).(interface{ UID() string }); ok {
		s.UID = content.UID()
	}
	return s
}

// markOf identifies a watch in the states of the history.
func markOf(key watch.Key) uint32 {
	h := fnv.New32a()
	for _, part := range [...]string{key.Namespace, key.LabelSelector, key.FieldSelector} {
		_, _ = h.Write(append([]byte(part), 0)) // never fails
	}
	return h.Sum32()
}

// wholeSecond is how much earlier than it was an object may say that it was created, in microseconds.
const wholeSecond = int64(time.Second / time.Microsecond)

// resume compares an object that is new to the graph with its state in the process before, and reports whether
// that says how it is new. Its entries are appended at once: they have no arcs, and a graph of the past,
// which begins when the watch has its objects, does not undo them.
func (r *recorder) resume(ev *setEvent, id graph.NodeID) bool {
	if !r.kept.on || !r.log.Resuming() {
		return false
	}
	f := ev.feed
	now := r.keptState(id)
	before, known := r.log.Resume(&now.Object)
	e := history.Entry{Object: now.Object, Kind: f.resource.Kind, UID: now.UID, From: r.log.RanUntil(), After: now.Health}
	switch {
	case known && before.UID == now.UID:
		e.Before = before.Health
		if before.Fields != now.Fields && before.Fields != 0 && now.Fields != 0 {
			e.Paths = []history.Path{{}} // which fields is not known
		}
		if len(e.Paths) == 0 && before.Health.SameWord(now.Health) {
			if before == now {
				r.kept.same(id)
			}
			return true
		}
		r.log.Append([]*history.Entry{&e}, now)
	case known:
		r.log.Append([]*history.Entry{r.removed(f, &before), r.added(e, ev)}, now)
	case f.begun.Load() == 0 && ev.observed.created > e.From-wholeSecond:
		r.log.Append([]*history.Entry{r.added(e, ev)}, now)
	default:
		return false
	}
	r.kept.same(id)
	return true
}

// added returns the entry of an object that was created since the process before ended: at the time that it says, in
// whole seconds.
func (r *recorder) added(e history.Entry, ev *setEvent) *history.Entry {
	e.Op, e.From = history.Added, max(e.From-wholeSecond, ev.observed.created)
	return &e
}

// removed returns the entry of an object that was deleted since the process before ended.
func (r *recorder) removed(f *Feed, before *history.State) *history.Entry {
	return &history.Entry{
		Op: history.Removed, Object: before.Object, Kind: f.resource.Kind, UID: before.UID, From: r.log.RanUntil(), Before: before.Health,
	}
}

// settle records that a feed has its objects for the first time: those of the process before that it lacks were
// deleted meanwhile. It returns the time that is not before these entries.
func (r *recorder) settle(f *Feed) int64 {
	if r == nil {
		return 0
	}
	if key := f.watch.Key(); r.kept.on && !key.Reduced {
		whole := key.LabelSelector == "" && key.FieldSelector == ""
		r.deleted(f, r.log.Unseen(ResourceOf(f.resource), func(s *history.State) bool {
			return s.Watch == f.mark || whole && (key.Namespace == "" || key.Namespace == s.Object.Namespace)
		}))
	}
	return r.log.Now()
}

// deleted appends the entries of objects that were deleted since the process before ended.
func (r *recorder) deleted(f *Feed, all []history.State) {
	entries := make([]*history.Entry, len(all))
	for i := range all {
		entries[i] = r.removed(f, &all[i])
		all[i].Gone = true
	}
	r.log.Append(entries, all...)
}

// skip records that a watch has an object that the graph does not get, so its state is not known.
func (r *recorder) skip(f *Feed, namespace, name string) {
	if r == nil || !r.kept.on || !r.log.Resuming() {
		return
	}
	key := graph.Key{Resource: ResourceOf(f.resource), Namespace: namespace, Name: name}
	if before, known := r.log.Resume(&key); known {
		before.Gone = true
		r.log.Append(nil, before)
	}
}

// interrupt records that a number of watches more, or less, may lack changes.
func (r *recorder) interrupt(watches int) {
	if r != nil {
		r.log.Interrupt(watches)
	}
}
