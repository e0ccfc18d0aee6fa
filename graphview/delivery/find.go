package delivery

import (
	"context"
	"errors"
	"slices"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
)

// maxArcs is the maximum number of outgoing and of incoming arcs that Find returns.
const maxArcs = 1000

// Found is one vertex and its arcs, encoded as in messages.
type Found struct {
	// Vertex has the members of svx: vx, m, and o, j or f.
	Vertex []byte
	// Out and In are the outgoing and incoming arcs: values of sarc, separated by commas.
	Out, In []byte
	More    bool
	// Unseen counts other objects with an arc to the vertex that the subscriber may see and the view
	// does not show.
	Unseen int
}

// Find returns one vertex as a subscriber may see it, nil if there is no such vertex or the subscriber
// may not see it. The error is a *ClosedError, or that of ctx.
func (p *Publisher) Find(ctx context.Context, key graph.Key, subscriber Access) (*Found, error) {
	if !p.selects(key) {
		return nil, nil
	}
	// Each iteration resolves the rights that the last one lacked.
	for {
		lens := p.Lens()
		if lens == nil {
			return nil, nil
		}
		var rights Rights
		if subscriber != nil {
			rights = subscriber.Rights()
		}
		g := newGate(rights)
		// Resolve the right in any case: the duration must not reveal whether the object exists.
		g.allowsObject(key)
		seen, ok := lens.Look(key, maxArcs, graph.Reading{Allow: g.allow()})
		if err := g.err(); err != nil {
			if err := resolve(ctx, subscriber, err); err != nil {
				return nil, err
			}
			continue
		}
		if !ok {
			return nil, nil
		}
		return found(&seen)
	}
}

// selects reports whether the view selects objects of the resource.
func (p *Publisher) selects(key graph.Key) bool {
	return slices.ContainsFunc(p.o.State.Scope().Resources, func(r ScopedResource) bool {
		return r.Group == key.Group && r.Resource.Resource == key.Resource.Resource && r.Namespaced == (key.Namespace != "")
	})
}

func found(seen *graph.Vicinity) (*Found, error) {
	f := &Found{More: seen.More, Unseen: seen.Unseen, Vertex: appendKey([]byte(`"vx":`), &seen.Vertex.Vertex)}
	if o, ok := seen.Vertex.Payload.(Object); ok {
		summary, err := Summarize(seen.Vertex.Vertex.Group, o, seen.Vertex.Root)
		if err != nil {
			return nil, err
		}
		f.Vertex = append(append(f.Vertex, `,"m":`...), summary...)
	}
	b := newFrameBuilder(false)
	f.Vertex = b.appendContent(f.Vertex, &seen.Vertex)
	f.Out, f.In = appendArcs(seen.Out), appendArcs(seen.In)
	return f, b.err
}

func appendArcs(arcs []graph.Change) []byte {
	var dst []byte
	for i := range arcs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendArc(dst, &arcs[i])
	}
	return dst
}

// resolve waits until the rights in missing, an *unknownError, are known. It returns other errors.
func resolve(ctx context.Context, subscriber Access, missing error) error {
	var unknown *unknownError
	if !errors.As(missing, &unknown) {
		return missing
	}
	err := subscriber.Resolve(ctx, unknown.places)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &ClosedError{Reason: reason.Unavailable, Message: "your permissions cannot be checked now; try again later"}
	}
}
