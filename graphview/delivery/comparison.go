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
// before a comparison begins are served by one.

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
	done  bool
	err   error
}

// compare returns the sums of a subscriber in the next comparison of a viewer.
func (at *slot) compare(h *contents.Have) (*comparison, *contents.Have) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if c := at.comparison; c == nil || c.begun {
		at.comparison = &comparison{before: c}
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
	}
	how := graph.Reading{Allow: c.gate.allow()}
	if c.began == (graph.Position{}) {
		if c.began, err = lens.Beginning(how); err != nil {
			return c.end(err)
		}
		c.pos = c.began
	}
	var changes []graph.Change
	done, err = lens.Read(&c.pos, compareLimit, how, func(change graph.Change) bool {
		changes = append(changes, change)
		return len(changes) < 4*compareLimit
	})
	if err != nil {
		return c.end(err)
	}
	if c.gate.knowsAll() { // else the rest only finds the other rights that are unknown
		for i := range changes {
			c.add(p, &changes[i], v.content)
		}
	}
	if done {
		return c.end(c.gate.err())
	}
	return false, nil
}

func (c *comparison) end(err error) (bool, error) {
	c.done, c.err, c.tags, c.sums = true, err, tags{}, nil
	return true, err
}

// add adds one element to the sums. An element that changes during the comparison is added twice, and one
// that is deleted is not subtracted: its bucket then differs and is sent.
func (c *comparison) add(p *Publisher, change *graph.Change, content Content) {
	switch change.Op {
	case graph.SetVertex:
		key, text := c.tags.ofSource(change), c.tags.ofContent(p, change, content)
		for _, sums := range c.sums {
			sums.AddVertex(key, text)
		}
	case graph.SetArc:
		from, to, attributes := c.tags.ofSource(change), tagOf(&change.To), c.tags.ofArc(change)
		for _, sums := range c.sums {
			sums.AddArc(from, to, attributes)
		}
	case graph.DeleteVertex, graph.DeleteArc:
	}
}

// tags computes the tags of elements. Its caches last for one comparison.
type tags struct {
	source     graph.Key // the last one
	sourceTag  contents.Tag
	scratch    []byte
	attributes contents.AttributeTags
}

func (t *tags) ofSource(c *graph.Change) contents.Tag {
	if t.sourceTag == 0 || t.source != c.Vertex {
		t.source, t.sourceTag = c.Vertex, tagOf(&c.Vertex)
	}
	return t.sourceTag
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
	var paths, words [maxWords]string
	a := contents.Attributes{
		Type: c.Type.String(), Controller: c.Controller, Block: c.BlockOwnerDeletion, Missing: c.Missing, Optional: c.Optional,
		Fields: pathsOf(paths[:0], c), Words: wordsOf(words[:0], c),
	}
	if c.Missing && c.Outside != graph.Nowhere {
		a.Outside = c.Outside.String()
	}
	return t.attributes.Of(&a)
}

var errOutdated = &ClosedError{
	Reason: reason.Outdated, Message: "your graph can no longer be changed step by step: connect again with have",
}

// pollHave is poll while there is something to compare. A view that is not complete does not answer, since
// the subscriber would then lose the elements that the view has not read yet.
func (s *Subscription) pollHave(wait pause) ([]*Frame, pause, error) {
	if s.publisher.source.State.Now().Phase == Serving {
		wait.compares = true
		return nil, wait, nil
	}
	if s.syncing {
		return nil, wait, nil
	}
	s.syncing = true
	return []*Frame{{JSON: []byte(`{"syncing":true}`)}}, wait, nil
}

// compare sums the graph and sets the state of the subscription to the reset that keeps equal buckets. It
// waits for the rights that it needs. Errors are those of Wait.
func (s *Subscription) compare(ctx context.Context) error {
	p := s.publisher
	lens := p.Lens()
	for {
		v := s.viewer()
		at := p.changes.slot(v.digest())
		c, sums := at.compare(s.have)
		err := s.finish(ctx, lens, c, at, v)
		var unknown *unknownError
		switch {
		case err == nil:
			buckets := s.have.Kept(sums)
			s.state = state{reset: true, pos: c.began, kept: &kept{buckets, buckets.String()}}
			s.have, s.hasGraph = nil, true
			return nil
		case errors.Is(err, graph.ErrGone): // more was deleted meanwhile than the view remembers
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
	if turn := s.publisher.source.Shared.Turn; turn != nil {
		release, err := turn(ctx, s.owner)
		if err != nil {
			return false, err
		}
		defer release()
	}
	return c.step(s.publisher, lens, at, v)
}
