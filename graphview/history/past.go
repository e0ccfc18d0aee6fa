package history

import (
	"errors"

	"graphview.dev/graphview/graph"
)

// pastBytes bounds the memory of a Past, pastObject and pastArc are about that of an object and of an arc without their texts.
const pastBytes, pastObject, pastArc = 128 << 20, 400, 200

// ErrPastTooLarge: too much changed since the time of a Past.
var ErrPastTooLarge = errors.New("too much has changed since then")

// Past has the differences between the present graph and the graph at a time: the oldest entry of each
// object and arc after that time says how it was before.
type Past struct {
	log     *Log
	at      int64
	seen    map[string]int64 // the newest entry that was read, by owner
	read    int64            // the newest entry of all at the last Read
	bytes   int              // of Objects, about
	Objects map[graph.Key]*PastObject
}

// PastObject is an object at an earlier time.
type PastObject struct {
	Exists bool
	// Health replaces that of Summary, or of the present summary, if it is known.
	Health Health
	// Summary is the JSON of the summary, "" if the present one differs only in its health.
	Summary string
	// Gone reports whether the object was removed since, and Views are then those of the entry.
	Gone  bool
	Views []uint32
	// Arcs are the arcs that changed since. Others are as they are now.
	Arcs map[ArcTo]graph.ArcSide
}

// ArcTo identifies an arc from an object.
type ArcTo struct {
	Type            graph.ArcType
	To              graph.Kind
	Namespace, Name string
}

// Past returns the differences to the graph at a time. Read reads them.
func (l *Log) Past(at int64) *Past {
	return &Past{log: l, at: at, seen: make(map[string]int64), Objects: make(map[graph.Key]*PastObject)}
}

// At returns the time.
func (p *Past) At() int64 { return p.at }

// Read adds the entries of the wanted owners that were appended since the last Read. The error is ErrPastTooLarge: a few
// megabytes of the log can be gigabytes of arcs.
// The present graph may be read before or after it, since an entry has the state before itself and not a
// difference: an entry that is undone although the present graph is older changes nothing.
func (p *Past) Read(wanted func(namespace string) bool) error {
	newest := p.log.Newest()
	if newest == p.read {
		return nil
	}
	p.read = newest
	for _, namespace := range p.log.Namespaces(p.at) {
		if !wanted(namespace) {
			continue
		}
		since, read := p.seen[namespace]
		if !read {
			since = p.at
		}
		for e := range p.log.Forward(namespace, since) {
			if p.add(e); p.bytes > pastBytes {
				return ErrPastTooLarge
			}
			since = e.At
		}
		p.seen[namespace] = since
	}
	return nil
}

func (p *Past) add(e *Entry) {
	o := p.Objects[e.Object]
	if o == nil {
		o = &PastObject{Exists: e.Op != Added}
		p.Objects[e.Object] = o
		p.bytes += pastObject
	}
	if o.Exists && !o.Gone {
		if !o.Health.Known() {
			o.Health = e.Before
		}
		if o.Summary == "" {
			o.Summary = e.Summary
			p.bytes += len(e.Summary)
		}
		for i := range e.Arcs {
			a := &e.Arcs[i]
			to := ArcTo{a.Type, a.To, a.Namespace, a.Name}
			if o.Arcs == nil {
				o.Arcs = make(map[ArcTo]graph.ArcSide)
			}
			if _, known := o.Arcs[to]; !known {
				o.Arcs[to] = a.Before
				p.bytes += pastArc + len(a.Name)
				for _, field := range a.Before.Fields {
					p.bytes += len(field)
				}
			}
		}
	}
	if e.Op == Removed && !o.Gone {
		o.Gone = true
		if o.Exists {
			o.Views = e.Views
		}
	}
}
