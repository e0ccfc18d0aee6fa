package delivery

import (
	"context"
	"errors"
	"sync"

	"graphview.dev/api/contents"
	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
)

// A subscriber that has a graph, from another process or from before a change of its rights, sends its sums
// (package contents). The view sums the elements that the subscriber may see, and the reset keeps the buckets
// that are equal. Summing reads the whole graph, so all subscribers with equal rights and options that come
// before a comparison begins are served by one. A subscriber with a revision whose rights are not known has them
// found by the same walk, and continues there if they are those of the revision.

// kept has the buckets that a subscriber keeps in a reset.
type kept struct {
	buckets *contents.Kept
	text    string // of the member keep
}

func (k *kept) has(key graph.Key) bool { return k.buckets.Has(tagOf(&key)) }

func tagOf(k *graph.Key) contents.Tag {
	return contents.KeyTag(k.Group, k.Version, k.Resource.Resource, k.Namespace, k.Name)
}

// comparison sums the graph of one viewer for several subscribers. Each of them calls finish, and the
// calls take turns.
type comparison struct {
	before *comparison // runs first, so that subscribers that come meanwhile share the next one

	// begun is guarded by slot.mu. No subscriber joins after that.
	begun bool
	sums  []*contents.Have // one for each subscriber

	mu    sync.Mutex // guards the rest
	began graph.Position
	pos   graph.Position
	gate  *gate
	tags  tags
	read  []graph.Change // of one step; a Change is large
	done  bool
	err   error
}

// compare returns the sums of a subscriber in the next comparison of a viewer, nil if it has no sums.
func (at *slot) compare(h *contents.Have) (*comparison, *contents.Have) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if c := at.comparison; c == nil || c.begun {
		at.comparison = &comparison{before: c}
	}
	if h == nil {
		return at.comparison, nil
	}
	sums := contents.New(h.Bits, h.Seed)
	at.comparison.sums = append(at.comparison.sums, sums)
	return at.comparison, sums
}

// compareLimit is the number of log elements that a step of a comparison reads, and of changes after which
// it stops.
const compareLimit = 1024

// step reads a piece of the graph and adds it to the sums. It reports whether the comparison is done.
func (c *comparison) step(p *Publisher, lens *graph.Lens, at *slot, v viewer) (done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return true, c.err
	}
	if c.gate == nil {
		at.mu.Lock()
		c.begun, c.before = true, nil
		at.mu.Unlock()
		c.gate = newGate(v.rights)
		p.askForWarnings(v, c.gate)
	}
	how := graph.Reading{Allow: c.gate.allow()}
	if c.began == (graph.Position{}) {
		if c.began, err = lens.Beginning(how); err != nil {
			return c.end(err)
		}
		c.pos = c.began
	}
	c.read = c.read[:0]
	done, err = lens.Read(&c.pos, compareLimit, how, func(change graph.Change) bool {
		c.read = append(c.read, change)
		return len(c.read) < 4*compareLimit
	})
	if err != nil {
		return c.end(err)
	}
	if c.gate.knowsAll() && len(c.sums) > 0 { // else the rest only finds the other rights that are unknown
		for i := range c.read {
			c.add(p, &c.read[i], v.content)
		}
	}
	if done {
		return c.end(c.gate.err())
	}
	return false, nil
}

func (c *comparison) end(err error) (bool, error) {
	c.done, c.err, c.tags, c.read, c.sums = true, err, tags{}, nil, nil
	return true, err
}

// add adds one element to the sums. An element that changes during the comparison is added twice, and one
// that is deleted is not subtracted: its bucket then differs and is sent.
func (c *comparison) add(p *Publisher, change *graph.Change, content Content) {
	switch change.Op {
	case graph.SetVertex:
		key, text := c.tags.ofKey(change.Node, &change.Vertex), c.tags.ofContent(p, change, content)
		for _, sums := range c.sums {
			sums.AddVertex(key, text)
		}
	case graph.SetArc:
		from, to, attributes := c.tags.ofKey(change.Node, &change.Vertex), c.tags.ofKey(change.ToNode, &change.To), c.tags.ofArc(change)
		for _, sums := range c.sums {
			sums.AddArc(from, to, attributes)
		}
	case graph.DeleteVertex, graph.DeleteArc:
	}
}

// tags computes the tags of elements. Its caches last for one comparison. A NodeID that another vertex takes
// over meanwhile makes a wrong tag of an element that has changed, and so is sent in any case.
type tags struct {
	keys    []keyTag // by the last bits of the NodeID: most arcs lead to few vertices, or to neighbours
	arcs    map[arcShape]contents.Tag
	scratch []byte
}

type keyTag struct {
	node graph.NodeID
	tag  contents.Tag
}

// maxKeys is the length of tags.keys: 64 KiB.
const maxKeys = 4096

// arcShape has the members of a change that decide about the attributes of an arc. Nearly all arcs share theirs with
// others. Equal paths of a graph are one slice.
type arcShape struct {
	from, to                             graph.Resource
	fields                               *string // the first
	count                                int
	typ                                  graph.ArcType
	outside                              graph.Outside
	controller, block, missing, optional bool
}

// maxShapes bounds tags.arcs.
const maxShapes = 4096

// ofKey returns the tag of a key. The node is 0 if the key has none.
func (t *tags) ofKey(node graph.NodeID, k *graph.Key) contents.Tag {
	if node == 0 {
		return tagOf(k)
	}
	if t.keys == nil {
		t.keys = make([]keyTag, maxKeys)
	}
	at := &t.keys[node%maxKeys]
	if at.node != node {
		*at = keyTag{node, tagOf(k)}
	}
	return at.tag
}

func (t *tags) ofContent(p *Publisher, c *graph.Change, content Content) contents.Tag {
	_, _ = p.selectContent(c, content, 0) // a content that cannot be encoded is left out, as in a message
	b := newFrameBuilder(false)
	t.scratch = b.appendContent(t.scratch[:0], c)
	if len(t.scratch) == 0 {
		return 0
	}
	return contents.TagOf(t.scratch)
}

func (t *tags) ofArc(c *graph.Change) contents.Tag {
	shape := arcShape{
		from: c.Vertex.Resource, to: c.To.Resource, count: len(c.Fields), typ: c.Type, outside: c.Outside,
		controller: c.Controller, block: c.BlockOwnerDeletion, missing: c.Missing, optional: c.Optional,
	}
	if shape.count > 0 {
		shape.fields = &c.Fields[0]
	}
	tag, known := t.arcs[shape]
	if !known {
		tag = attributesTag(c)
		if t.arcs == nil || len(t.arcs) == maxShapes {
			t.arcs = make(map[arcShape]contents.Tag)
		}
		t.arcs[shape] = tag
	}
	return tag
}

func attributesTag(c *graph.Change) contents.Tag {
	var paths, words [maxWords]string
	a := contents.Attributes{
		Type: c.Type.String(), Controller: c.Controller, Block: c.BlockOwnerDeletion, Missing: c.Missing, Optional: c.Optional,
		Fields: pathsOf(paths[:0], c), Words: wordsOf(words[:0], c),
	}
	if c.Missing && c.Outside != graph.Nowhere {
		a.Outside = c.Outside.String()
	}
	return a.Tag()
}

var errOutdated = &ClosedError{
	Reason: reason.Outdated, Message: "your graph can no longer be changed step by step: connect again with have",
}

// compares reports whether the view has to compare the subscriber's graph, or to find the rights that decide whether the
// subscriber continues after its revision. A part of a graph finds its rights with its first piece.
func (s *Subscription) compares() bool {
	return s.narrow == nil && s.state.pos.Known == 0 && (s.have != nil || s.since.known > 0)
}

// pollHave is poll while there is something to compare. A view that is not complete does not compare, since
// the subscriber would then lose the elements that the view has not read yet.
func (s *Subscription) pollHave(wait pause) ([]*Frame, pause, error) {
	if s.have == nil || s.publisher.o.State.Now().Phase == Serving {
		wait.compares = true
		return nil, wait, nil
	}
	if s.syncing {
		return nil, wait, nil
	}
	s.syncing = true
	return []*Frame{{JSON: []byte(`{"syncing":true}`)}}, wait, nil
}

// compare sums the graph and sets the state of the subscription to the reset that keeps equal buckets, unless it
// continues after its revision. It waits for the rights that it needs. Errors are those of Wait.
func (s *Subscription) compare(ctx context.Context) error {
	p := s.publisher
	lens := p.Lens()
	for {
		v := s.viewer()
		if !s.compares() {
			return nil
		}
		at := p.changes.slot(v.digest())
		c, sums := at.compare(s.have)
		err := s.finish(ctx, lens, c, at, v)
		var unknown *unknownError
		switch {
		case err == nil && s.have == nil:
			s.since = revision{}
			return nil
		case err == nil:
			s.since = revision{}
			buckets := s.have.Kept(sums)
			s.state = state{reset: true, pos: c.began, kept: &kept{buckets, buckets.String()}}
			s.dropHave()
			s.hasGraph = true
			return nil
		case errors.Is(err, graph.ErrGone): // more was deleted meanwhile than the view remembers, or the lens is closed: Poll knows
			return nil
		case errors.As(err, &unknown):
			if err := resolve(ctx, s.access, unknown); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// finish runs a comparison to its end, after those before it.
func (s *Subscription) finish(ctx context.Context, lens *graph.Lens, c *comparison, at *slot, v viewer) error {
	at.mu.Lock()
	before := c.before
	at.mu.Unlock()
	if before != nil {
		if err := s.finish(ctx, lens, before, at, v); err != nil && ctx.Err() != nil {
			return err
		}
	}
	for {
		done, err := s.step(ctx, lens, c, at, v)
		if done || err != nil {
			return err
		}
	}
}

// step makes one step of a comparison in a turn.
func (s *Subscription) step(ctx context.Context, lens *graph.Lens, c *comparison, at *slot, v viewer) (bool, error) {
	if turn := s.publisher.o.Shared.Turn; turn != nil {
		release, err := turn(ctx, s.owner)
		if err != nil {
			return false, err
		}
		defer release()
	}
	return c.step(s.publisher, lens, at, v)
}
