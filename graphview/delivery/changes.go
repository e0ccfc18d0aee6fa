package delivery

import (
	"container/heap"
	"context"
	"errors"
	"iter"
	"time"

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
	// TooMany reports whether the object leads to more objects than were looked at.
	TooMany bool
	// Kind is that of the resource of Object, "" if the view does not watch it.
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
			past:   &Past{Mark: q.Mark, Foreign: q.Foreign, lens: lens, whole: p.o.State.Scope().Whole},
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
	s.gate.allowsObject(object)
	s.add(object, nil)
	_, there := s.past.lens.Look(object, 1, graph.Reading{Allow: s.gate.allow()})
	if there && !s.Alone {
		s.walk(object)
		s.actors()
	}
	return there
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
	if since > s.answer.Since && s.gate.allowsObject(e.Object) {
		s.answer.Since = since
	}
}
