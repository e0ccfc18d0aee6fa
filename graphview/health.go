package graphview

import (
	"sync"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/watch"
)

// Health counts visible objects by how they are; see the package health.
type Health struct {
	OK, Progressing, Degraded, Suspended, Terminating, Unknown int
}

// The classes of the graph. That of objects of which nothing is known is 0.
const (
	classUnknown graph.Class = iota
	classOK
	classProgressing
	classDegraded
	classSuspended
	classTerminating
)

func classOf(s health.State) graph.Class {
	switch s {
	case health.OK:
		return classOK
	case health.Progressing:
		return classProgressing
	case health.Degraded:
		return classDegraded
	case health.Suspended:
		return classSuspended
	case health.Terminating:
		return classTerminating
	default:
		return classUnknown
	}
}

func healthOf(classes [graph.Classes]int) Health {
	return Health{
		OK: classes[classOK], Progressing: classes[classProgressing], Degraded: classes[classDegraded],
		Suspended: classes[classSuspended], Terminating: classes[classTerminating], Unknown: classes[classUnknown],
	}
}

func (h *Health) add(other Health) {
	h.OK += other.OK
	h.Progressing += other.Progressing
	h.Degraded += other.Degraded
	h.Suspended += other.Suspended
	h.Terminating += other.Terminating
	h.Unknown += other.Unknown
}

func (h Health) byState() map[health.State]int {
	return map[health.State]int{
		health.OK: h.OK, health.Progressing: h.Progressing, health.Degraded: h.Degraded,
		health.Suspended: h.Suspended, health.Terminating: h.Terminating, health.Unknown: h.Unknown,
	}
}

// judged are the fields that objects are judged by, lent to whoever judges one.
var judged = sync.Pool{New: func() any { return new(jsontree.Parts) }}

// judgedPart returns the part of an object that a shape asks for, and in the same pass notes
// how the object is by its fields. Of a Secret, of which there is only the metadata, it is
// known that it is being deleted.
func judgedPart(kind graph.Kind, o *watch.Decoded, shape *jsontree.Shape, ev *setEvent) (map[string]any, error) {
	note := func(h health.Health) {
		if o.HasContent() || h.State == health.Terminating {
			ev.classify(h)
		}
	}
	if tree := o.Built(); tree != nil {
		note(health.Of(health.Kind(kind), tree))
		return tree, nil
	}
	parts := judged.Get().(*jsontree.Parts) //nolint:forcetypeassert // New makes nothing else
	defer func() {
		parts.Reset()
		judged.Put(parts)
	}()
	part, err := o.PartBeside(shape, health.Shape, parts)
	if err != nil {
		return nil, err
	}
	note(health.OfParts(health.Kind(kind), parts))
	return part, nil
}

// classify stores the health of the object in the event.
func (ev *setEvent) classify(h health.Health) {
	h = h.At(time.Now())
	object := &ev.object
	object.Class, object.LapsesAt, object.LapsesTo, object.Excuse = classOf(h.State), 0, 0, graph.Excuse{}
	if h.Ended {
		object.Excuse = graph.Excuse{Controller: classOK, As: classOK}
	}
	if h.Overdue != 0 {
		object.LapsesAt, object.LapsesTo = h.Overdue, classDegraded
	}
	ev.untimed = nil
	if h.Untimed {
		ev.untimed = &h
	}
}

// setDeadline gives an object that does not say since when it is progressing the time at
// which the engine first saw it so. In the loop.
func (f *feed) setDeadline(ev *setEvent) {
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

// standing is how the objects of a view that is served are, and how many references
// lead to what does not exist.
func (v *View) standing() (Health, int) {
	v.mu.Lock()
	unserved := v.program == nil || v.limit != nil
	v.mu.Unlock()
	lens := v.publisher.Lens()
	if lens == nil || unserved {
		return Health{}, 0
	}
	if !v.filled.Load() {
		return healthOf(lens.Classes()), 0 // what is referred to may not have come yet
	}
	return healthOf(lens.Classes()), lens.Missing()
}
