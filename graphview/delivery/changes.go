package delivery

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
)

const (
	// maxLedTo bounds the objects that the object of a question leads to.
	maxLedTo = 2000
	// foldWithin is how far apart equal changes of an object are that become one.
	foldWithin = 10 * time.Minute
)

// ErrUnknownObject: neither the view nor its history has the object.
var ErrUnknownObject = errors.New("no such object")

// ChangesQuery asks for the changes of a view. Times are in microseconds since 1970.
type ChangesQuery struct {
	// Object is the object of the question; nil for the whole view. Its version is that of the view.
	Object *graph.Key
	// The changes are after Since and not after Until; 0 means now.
	Since, Until int64
	// Alone leaves out the objects that Object leads to.
	Alone bool
	Limit int
	// Log is the history, and Mark that of the view in it, 0 for none. Foreign is that of Past.
	Log     *history.Log
	Mark    uint32
	Foreign func(namespace string, at int64) bool
}

// Via is the last step of the shortest path from the object of a question to another one.
type Via struct {
	Neighbour graph.Key
	Kind      string
	Words     []string
	// Up reports whether the arc leads from the object to the neighbour.
	Up    bool
	Depth int
}

// Changed is one change, or a series of equal ones.
type Changed struct {
	*history.Entry

	Times int
	First int64
	Via   *Via
	// Controller is the controller of the object, with its kind.
	Controller     *graph.Key
	ControllerKind string
	// targets are those of Arcs that the subscriber may see.
	targets map[*history.Arc]*Target
}

// Target is where a changed arc leads.
type Target struct {
	Key           graph.Key
	Fields, Words []string
	// Missing reports whether the object does not exist.
	Missing bool
}

// Target returns where an arc of the entry leads, nil if the subscriber may not see that.
func (c *Changed) Target(a *history.Arc) *Target { return c.targets[a] }

// Changes is the answer to a ChangesQuery.
type Changes struct {
	Object  *graph.Key
	Changes []*Changed // the newest first
	// Since is the time from which the history is complete, and Until that of the question.
	Since, Until int64

	More bool
	Rev  uint64
	// TooMany reports whether the object leads to more objects than were looked at.
	TooMany bool
	// Kind and Selected are those of the resource of an unknown object.
	Kind string
}

// Changes answers a question about the history of the view, as far as a subscriber may see its objects now.
// The error is ErrUnknownObject, a *ClosedError or ctx's.
func (p *Publisher) Changes(ctx context.Context, q *ChangesQuery, subscriber Access) (*Changes, error) {
	for {
		lens := p.Lens()
		if lens == nil {
			return nil, ErrUnknownObject
		}
		var rights Rights
		if subscriber != nil {
			rights = subscriber.Rights()
		}
		s := &changeSearch{
			ChangesQuery: q, ctx: ctx, gate: newGate(rights),
			past:   &Past{Mark: q.Mark, Foreign: q.Foreign, lens: lens, whole: p.source.State.Scope().Whole},
			ledTo:  make(map[graph.Key]*Via),
			hashes: make(map[uint32]bool), may: make(map[graph.Key]bool), folds: make(map[foldKey]*Changed), controllers: make(map[graph.Key]*graph.Change),
			begun: make(map[string]int64),
		}
		s.past.gate, s.answer.Until = s.gate, q.Until
		found := s.begin()
		if err := s.gate.err(); err == nil {
			s.search()
		}
		if err := s.gate.err(); err != nil {
			if err := resolve(ctx, subscriber, err); err != nil {
				return nil, err
			}
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !found && len(s.answer.Changes) == 0 {
			return &s.answer, ErrUnknownObject
		}
		s.answer.Rev = lens.Head()
		return &s.answer, nil
	}
}

// changeSearch is the search for the answer to one question.
type changeSearch struct {
	*ChangesQuery

	ctx         context.Context //nolint:containedctx // of the one call
	gate        *gate
	past        *Past
	ledTo       map[graph.Key]*Via // the objects of the question; the value of Object is nil
	hashes      map[uint32]bool    // of ledTo
	may         map[graph.Key]bool // whether the subscriber gets the changes of an object
	folds       map[foldKey]*Changed
	controllers map[graph.Key]*graph.Change // nil: none
	begun       map[string]int64            // Log.Since by namespace
	made        int                         // changes that the answer has; an entry with many arcs is many
	answer      Changes
}

// foldKey is equal for changes that become one.
type foldKey struct {
	object        graph.Key
	before, after string
	path          string
	paths         int
}

// begin finds the objects of the question, and reports whether the view shows its object now.
func (s *changeSearch) begin() bool {
	if s.Object == nil {
		return true
	}
	s.answer.Object = s.Object
	used, _ := s.past.lens.Uses(0)
	for _, u := range used {
		if u.Resource.Group == s.Object.Group && u.Resource.Resource == s.Object.Resource.Resource {
			key := graph.Key{Resource: u.Resource, Namespace: s.Object.Namespace, Name: s.Object.Name}
			s.answer.Object, s.answer.Kind = &key, u.Kind.Kind
		}
	}
	object := *s.answer.Object
	s.gate.allows(access.Place{Group: object.Group, Resource: object.Resource.Resource, Namespace: object.Namespace})
	s.add(object, nil)
	_, there := s.past.lens.Look(object, 1, graph.Reading{Allow: s.gate.allow()})
	if there && !s.Alone {
		s.walk(object)
		s.actors()
	}
	return there
}

// add adds an object of the question.
func (s *changeSearch) add(key graph.Key, via *Via) bool {
	if _, known := s.ledTo[key]; known {
		return false
	}
	if len(s.ledTo) > maxLedTo {
		s.answer.TooMany = true
		return false
	}
	s.ledTo[key] = via
	s.hashes[history.Hash(&key)] = true
	return true
}

// walk adds the objects that an object leads to: its references and the objects that it owns, and so on.
// It also adds the owners of the object, and nothing else that they lead to.
func (s *changeSearch) walk(from graph.Key) {
	how := graph.Reading{Allow: s.gate.allow()}
	depthOf := func(key graph.Key) int {
		if via := s.ledTo[key]; via != nil {
			return via.Depth
		}
		return 0
	}
	for queue := []graph.Key{from}; len(queue) > 0 && s.ctx.Err() == nil; queue = queue[1:] {
		at := queue[0]
		seen, ok := s.past.lens.Look(at, maxArcs, how)
		if !ok {
			continue
		}
		via := func(c *graph.Change, up bool) *Via {
			return &Via{Neighbour: at, Kind: s.past.kindOf(at.Resource).Kind, Words: wordsOf(nil, c), Up: up, Depth: depthOf(at) + 1}
		}
		for i := range seen.Out {
			if c := &seen.Out[i]; c.Type != graph.OwnerReference && s.add(c.To, via(c, false)) && !c.Missing {
				queue = append(queue, c.To)
			}
		}
		for i := range seen.In {
			if c := &seen.In[i]; c.Type == graph.OwnerReference && s.add(c.Vertex, via(c, true)) {
				queue = append(queue, c.Vertex)
			}
		}
	}
	for at, depth := from, 1; depth < graph.MaxDepth; depth++ {
		owner := s.controller(at)
		if owner == nil || !s.add(owner.To, &Via{Neighbour: at, Kind: s.past.kindOf(at.Resource).Kind, Depth: depth}) {
			return
		}
		at = owner.To
	}
}

// controller returns the arc to the controller of an object that the view shows, nil if there is none.
func (s *changeSearch) controller(of graph.Key) *graph.Change {
	if c, known := s.controllers[of]; known {
		return c
	}
	var found *graph.Change
	if seen, ok := s.past.lens.Look(of, 64, graph.Reading{Allow: s.gate.allow()}); ok {
		if i := slices.IndexFunc(seen.Out, func(c graph.Change) bool { return c.Type == graph.OwnerReference && c.Controller }); i >= 0 {
			found = &seen.Out[i]
		}
	}
	s.controllers[of] = found
	return found
}

// search looks through the entries of all owners concerned, the newest first.
func (s *changeSearch) search() {
	var owners newest
	defer func() {
		for _, o := range owners {
			o.stop()
		}
	}()
	begun := make(map[string]bool)
	begin := func(namespace string, until int64) {
		if begun[namespace] {
			return
		}
		begun[namespace] = true
		if s.Object != nil {
			s.answer.Since = max(s.answer.Since, s.Log.Since(namespace))
		}
		var wanted func(uint32, history.Op) bool
		if s.Object != nil {
			wanted = func(hash uint32, op history.Op) bool { return s.hashes[hash] || op == history.Removed && !s.Alone }
		}
		next, stop := iter.Pull(iter.Seq[*history.Entry](s.Log.Backward(namespace, s.Since, until, wanted)))
		if e, ok := next(); ok {
			heap.Push(&owners, &newestOf{e, next, stop})
		} else {
			stop()
		}
	}
	if s.Object == nil {
		for _, namespace := range s.Log.Namespaces(s.Since) {
			begin(namespace, s.Until)
		}
	}
	for key := range s.ledTo {
		begin(key.Namespace, s.Until)
	}
	s.answer.Since = max(s.answer.Since, s.Since)
	for looked := 0; len(owners) > 0; looked++ {
		if looked%1024 == 0 && s.ctx.Err() != nil {
			return
		}
		first := owners[0]
		e := first.entry
		taken, full := s.take(e)
		if full {
			s.answer.More = true
			return
		}
		if s.Object == nil {
			s.limitSince(e)
		}
		if taken && s.Object != nil && !s.Alone {
			for _, key := range s.lead(e) {
				begin(key.Namespace, e.At)
			}
		}
		// The objects of the question are known by now, so next skips none of them.
		if next, ok := first.next(); ok {
			first.entry = next
			heap.Fix(&owners, 0)
		} else {
			first.stop()
			heap.Pop(&owners)
		}
	}
}

// limitSince lets the answer about a whole view begin where the history of the entry's namespace does, if the subscriber may see objects
// there: others do not learn that a namespace lost its history.
func (s *changeSearch) limitSince(e *history.Entry) {
	since, known := s.begun[e.Object.Namespace]
	if !known {
		since = s.Log.Since(e.Object.Namespace)
		s.begun[e.Object.Namespace] = since
	}
	if since > s.answer.Since && s.gate.allows(access.Place{Group: e.Object.Group, Resource: e.Object.Resource.Resource, Namespace: e.Object.Namespace}) {
		s.answer.Since = since
	}
}

// newest is a heap of the newest entries of owners.
type newest []*newestOf

type newestOf struct {
	entry *history.Entry
	next  func() (*history.Entry, bool)
	stop  func()
}

func (n newest) Len() int           { return len(n) }
func (n newest) Less(i, j int) bool { return n[i].entry.At > n[j].entry.At }
func (n newest) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *newest) Push(x any)        { *n = append(*n, x.(*newestOf)) } //nolint:forcetypeassert // nothing else is pushed
func (n *newest) Pop() any {
	last := len(*n) - 1
	o := (*n)[last]
	*n = (*n)[:last]
	return o
}

// lead adds the objects to which an object of the question led before a change.
func (s *changeSearch) lead(e *history.Entry) (added []graph.Key) {
	via, concerned := s.ledTo[e.Object]
	if !concerned {
		return nil
	}
	depth := 1
	if via != nil {
		depth = via.Depth + 1
	}
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if !a.Before.Exists || a.Implied || a.Type == graph.OwnerReference {
			continue
		}
		at := s.past.lens.Glance(a.To, a.Namespace, a.Name)
		key := graph.Key{Resource: at.Resource, Namespace: a.Namespace, Name: a.Name}
		if s.sees(&at, &a.Before, a.Namespace) && s.add(key, &Via{Neighbour: e.Object, Kind: e.Kind, Words: words(e.Object, key, a.Before.Fields), Depth: depth}) {
			added = append(added, key)
		}
	}
	return added
}

// words returns the words of an arc.
func words(from, to graph.Key, fields []string) []string {
	return wordsOf(nil, &graph.Change{Vertex: from, To: to, Fields: fields})
}

// sees reports whether the subscriber may see where an arc leads or led.
func (s *changeSearch) sees(at *graph.Glance, side *graph.ArcSide, namespace string) bool {
	return at.Used && (at.Shown || side.Named) && (side.Named || side.Selected || side.Inferred && !at.ExcludesInferred) &&
		s.gate.allows(access.Place{Group: at.Resource.Group, Resource: at.Resource.Resource, Namespace: namespace})
}

// take adds an entry to the answer if it is part of it, and reports whether it is and whether the answer is full.
func (s *changeSearch) take(e *history.Entry) (taken, full bool) {
	via, concerned := s.ledTo[e.Object]
	if s.Object != nil && !concerned && (s.Alone || e.Op != history.Removed) {
		return false, false
	}
	controller, kind := s.controllerBefore(e)
	if s.Object != nil && !concerned {
		via = s.actedOn(e)
		if controller != nil {
			if _, known := s.ledTo[*controller]; known {
				via = s.step(*controller, nil, true)
			}
		}
		if via == nil {
			return false, false
		}
	}
	if !s.permits(e) || !concerned && s.Object != nil && !s.add(e.Object, via) {
		return false, false
	}
	shown := *e
	shown.Summary, shown.Arcs = "", nil
	c := &Changed{Entry: &shown, Times: 1, First: e.At, Via: via, Controller: controller, ControllerKind: kind}
	if s.findTargets(c, e); !shownAlone(e) && len(c.targets) == 0 {
		return true, false
	}
	key, folds := foldOf(e)
	if folds {
		if series := s.folds[key]; series != nil && series.First-e.At <= foldWithin.Microseconds() {
			series.Times++
			series.First = e.At
			return true, false
		}
	}
	if s.made >= s.Limit {
		return true, true
	}
	if folds {
		s.folds[key] = c
	}
	s.made += max(len(c.targets), 1)
	s.answer.Changes = append(s.answer.Changes, c)
	return true, false
}

// findTargets adds the changed arcs of an entry to a change, and where they lead. It stops beyond the limit of the answer.
func (s *changeSearch) findTargets(c *Changed, e *history.Entry) {
	if e.Op != history.Changed {
		return
	}
	var targets []*Target
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if a.Implied || a.Before.Exists == a.After.Exists {
			continue
		}
		at := s.past.lens.Glance(a.To, a.Namespace, a.Name)
		side := &a.After
		if a.Before.Exists {
			side = &a.Before
		}
		if !s.sees(&at, side, a.Namespace) {
			continue
		}
		key := graph.Key{Resource: at.Resource, Namespace: a.Namespace, Name: a.Name}
		arc := graph.Change{Vertex: e.Object, To: key, Fields: side.Fields}
		targets = append(targets, &Target{Key: key, Fields: pathsOf(nil, &arc), Words: wordsOf(nil, &arc), Missing: !at.Shown && at.Outside == graph.Nowhere})
		if c.Arcs = append(c.Arcs, *a); len(targets) > s.Limit {
			break
		}
	}
	if len(targets) > 0 {
		c.targets = make(map[*history.Arc]*Target, len(targets))
	}
	for i, target := range targets {
		c.targets[&c.Arcs[i]] = target
	}
}

// foldOf returns the key of the series that an entry belongs to, and whether it may belong to one.
func foldOf(e *history.Entry) (foldKey, bool) {
	k := foldKey{object: e.Object, paths: len(e.Paths)}
	before, after := e.Before.Unpack(), e.After.Unpack()
	k.before, k.after = string(before.State)+" "+before.Reason, string(after.State)+" "+after.Reason
	for _, p := range e.Paths {
		k.path += p.Path + "\n" + p.Before + "\n" + p.After + "\n"
	}
	return k, e.Op == history.Changed && e.From == 0 && !slices.ContainsFunc(e.Arcs, func(a history.Arc) bool { return !a.Implied })
}

// shownAlone reports whether an entry is a change for people without its arcs. Others are kept to undo them, such
// as the counts of a health.
func shownAlone(e *history.Entry) bool {
	return e.Op != history.Changed || len(e.Paths) > 0 || !e.Before.SameWord(e.After)
}

// controllerBefore returns the controller of an object when it changed, or that of now.
func (s *changeSearch) controllerBefore(e *history.Entry) (*graph.Key, string) {
	for i := range e.Arcs {
		a := &e.Arcs[i]
		if a.Type != graph.OwnerReference || !a.Before.Controller {
			continue
		}
		at := s.past.lens.Glance(a.To, a.Namespace, a.Name)
		if at.Used && s.gate.allows(access.Place{Group: at.Resource.Group, Resource: at.Resource.Resource, Namespace: a.Namespace}) {
			return &graph.Key{Resource: at.Resource, Namespace: a.Namespace, Name: a.Name}, a.To.Kind
		}
	}
	if e.Op == history.Removed {
		return nil, ""
	}
	if c := s.controller(e.Object); c != nil {
		return &c.To, s.past.kindOf(c.To.Resource).Kind
	}
	return nil, ""
}

// permits reports whether the subscriber gets an entry: the view shows the object now, or showed it when it was
// deleted, and the subscriber may see it now.
func (s *changeSearch) permits(e *history.Entry) bool {
	key := e.Object
	foreign := key.Namespace != "" && s.Foreign(key.Namespace, cmp.Or(e.From, e.At))
	if may, known := s.may[key]; known && !foreign {
		return may
	}
	may := false
	at := s.past.lens.Glance(s.past.kindOf(key.Resource), key.Namespace, key.Name)
	switch {
	case !at.Used || at.Resource != key.Resource:
	case foreign:
		may = s.gate.allows(access.Place{Group: key.Group, Resource: key.Resource.Resource}) && (at.Shown || s.past.whole || slices.Contains(e.Views, s.Mark))
		if !may {
			return false
		}
	case at.Shown:
		may = s.gate.allows(access.Place{Group: key.Group, Resource: key.Resource.Resource, Namespace: key.Namespace})
	case s.past.whole && at.Outside == graph.Nowhere, e.Op == history.Removed && s.Mark != 0 && slices.Contains(e.Views, s.Mark):
		may = s.gate.allows(access.Place{Group: key.Group, Resource: key.Resource.Resource, Namespace: key.Namespace})
	}
	s.may[key] = may
	return may
}
