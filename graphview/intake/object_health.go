package intake

import (
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/watch"
)

// The classes of the graph. An object without a known health has the class 0.
const (
	ClassUnknown graph.Class = iota
	ClassOK
	ClassProgressing
	ClassDegraded
	ClassSuspended
	ClassTerminating
)

func classOf(s health.State) graph.Class {
	switch s {
	case health.OK:
		return ClassOK
	case health.Progressing:
		return ClassProgressing
	case health.Degraded:
		return ClassDegraded
	case health.Suspended:
		return ClassSuspended
	case health.Terminating:
		return ClassTerminating
	default:
		return ClassUnknown
	}
}

// judgedPart returns the part of an object that a shape describes, and stores the health of the
// object in the event in the same pass. A Secret has only metadata here, so only its deletion is
// known.
func judgedPart(kind graph.Kind, o *watch.Decoded, shape *jsontree.Shape, ev *setEvent) (map[string]any, error) {
	parts := jsontree.AcquireParts()
	defer parts.Release()
	part, err := o.PartBeside(shape, health.Shape, parts)
	if err != nil {
		return nil, err
	}
	if h := health.OfParts(health.Kind(kind), parts); o.HasContent() || h.State == health.Terminating {
		ev.classify(h)
	}
	return part, nil
}

// classify stores the health of the object in the event.
func (ev *setEvent) classify(h health.Health) {
	h = h.At(time.Now())
	object := &ev.object
	object.Class, object.LapsesAt, object.LapsesTo, object.Excuse = classOf(h.State), 0, 0, graph.Excuse{}
	if h.Ended {
		object.Excuse = graph.Excuse{Controller: ClassOK, As: ClassOK}
	}
	if h.Overdue != 0 {
		object.LapsesAt, object.LapsesTo = h.Overdue, ClassDegraded
	}
	ev.untimed = nil
	if h.Untimed {
		ev.untimed = &h
	}
}

// setDeadline gives an object that does not say since when it is progressing the time at which the
// feed first saw it so. Only the writer calls it.
func (f *Feed) setDeadline(ev *setEvent) {
	name := objectName{ev.object.Namespace, ev.object.Name}
	if ev.untimed == nil {
		delete(f.firstSeen, name)
		return
	}
	first, seen := f.firstSeen[name]
	if !seen {
		first = time.Now().Unix()
		f.firstSeen[name] = first
	}
	ev.declareHealth(ev.untimed.Seen(first))
}
