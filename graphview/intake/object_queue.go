package intake

import (
	"slices"

	"graphview.dev/graphview/watch"
)

// objectQueue has objects to evaluate again, for taps or for feeds. It has each object once, so its length
// is at most the number of objects of their watches. Taps take turns, because the objects of several watches
// may change in turn, and the namespaces of feeds do, because those of one may change all the time. The
// zero value is empty.
type objectQueue[T comparable] struct {
	turns []*queuedObjects[T] // the first has the next turn
	by    map[T]*queuedObjects[T]
}

// queuedObjects are the objects of one tap, or of a feed in one namespace.
type queuedObjects[T comparable] struct {
	by      T
	names   []objectName // the oldest first
	objects map[objectName]queuedObject
}

// queuedObject says how an object is evaluated again.
type queuedObject struct {
	// object is the version that a tap evaluates. It is nil for a feed: its watch has the version to evaluate by then.
	object *watch.Object
	// free: the owner of the tap is not charged.
	free bool
	// withTaps: the taps of the feed evaluate the object, too, because the graph had other content.
	withTaps bool
	// alone: it takes so long that the turn ends with it.
	alone bool
}

func nameOf(o *watch.Object) objectName { return objectName{o.Namespace(), o.Name()} }

// add adds an object for a tap or feed, or replaces an older version of it. It reports whether the object
// is new.
func (q *objectQueue[T]) add(t T, name objectName, o queuedObject) (added bool) {
	of := q.by[t]
	if of == nil {
		if q.by == nil {
			q.by = make(map[T]*queuedObjects[T])
		}
		of = &queuedObjects[T]{by: t, objects: make(map[objectName]queuedObject)}
		q.by[t] = of
		q.turns = append(q.turns, of)
	}
	before, known := of.objects[name]
	o.withTaps, o.alone = o.withTaps || before.withTaps, o.alone || before.alone
	of.objects[name] = o
	if !known {
		of.names = append(of.names, name)
	}
	return !known
}

// drop removes the objects of a tap or feed.
func (q *objectQueue[T]) drop(t T) {
	if of := q.by[t]; of != nil {
		delete(q.by, t)
		q.turns = slices.DeleteFunc(q.turns, func(other *queuedObjects[T]) bool { return other == of })
	}
}

// next removes up to limit of the oldest objects of the tap or feed with the next turn, and none after an object that
// is alone. It returns no objects if none are left.
func (q *objectQueue[T]) next(limit int) (t T, objects map[objectName]queuedObject) {
	if len(q.turns) == 0 {
		return t, nil
	}
	of := q.turns[0]
	q.turns[0] = nil
	q.turns = q.turns[1:]
	if n := slices.IndexFunc(of.names[:min(limit, len(of.names))], func(name objectName) bool { return of.objects[name].alone }); n >= 0 {
		limit = n + 1
	}
	if len(of.names) <= limit {
		delete(q.by, of.by)
		return of.by, of.objects
	}
	objects = make(map[objectName]queuedObject, limit)
	for _, name := range of.names[:limit] {
		objects[name] = of.objects[name]
		delete(of.objects, name)
	}
	clear(of.names[:limit])
	of.names = of.names[limit:]
	q.turns = append(q.turns, of)
	return of.by, objects
}
