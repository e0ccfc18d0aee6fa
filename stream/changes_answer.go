package stream

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/wording"
)

// neverKnown returns the error that neither the graph nor its history has an object.
func neverKnown(question delivery.ChangesQuery, found *delivery.Changes) error {
	about := wording.Absent{Kind: question.Object.Resource.Resource}
	if found != nil && found.Kind != "" {
		about.Kind, about.Selected = found.Kind, true
	}
	return objectNotFound(*question.Object, about, ", and the history does not have it")
}

func microTime(at int64) metav1.MicroTime { return metav1.NewMicroTime(time.UnixMicro(at).UTC()) }

// answerOf returns the answer for the client. An entry may be several changes.
func answerOf(found *delivery.Changes, limit int) *streamv1alpha1.GraphChanges {
	a := &streamv1alpha1.GraphChanges{Changes: []streamv1alpha1.Change{}, Since: microTime(found.Since), Until: microTime(found.Until), More: found.More}
	if found.Object != nil {
		key := messageKey(*found.Object)
		a.Object = &key
	}
	for _, c := range found.Changes {
		a.Changes = append(a.Changes, changesOfEntry(c)...)
	}
	if len(a.Changes) > limit {
		a.Changes, a.More = a.Changes[:limit], true
	}
	return a
}

// changesOfEntry returns the changes of one entry: that of the health is the last, since the others are its
// cause.
func changesOfEntry(c *delivery.Changed) (all []streamv1alpha1.Change) {
	base := streamv1alpha1.Change{Time: microTime(c.At), Key: messageKey(c.Object), Kind: c.Kind, UID: c.UID, ControllerKind: c.ControllerKind}
	if c.From != 0 {
		earliest := microTime(c.From)
		base.Earliest = &earliest
	}
	if c.Controller != nil {
		key := messageKey(*c.Controller)
		base.Controller = &key
	}
	if c.Times > 1 {
		first := microTime(c.First)
		base.Times, base.First = c.Times, &first
	}
	if c.Via != nil {
		base.Via = &streamv1alpha1.ChangeVia{Key: messageKey(c.Via.Neighbour), Kind: c.Via.Kind, Words: c.Via.Words, Up: c.Via.Up, Depth: c.Via.Depth}
	}
	add := func(typ streamv1alpha1.ChangeType, set func(*streamv1alpha1.Change)) {
		change := base
		change.Type = typ
		set(&change)
		all = append(all, change)
	}
	health := healthChange(c.Entry)
	switch c.Op {
	case history.Added:
		add(streamv1alpha1.ChangeAdded, func(change *streamv1alpha1.Change) { change.Health = health })
		return all
	case history.Removed:
		add(streamv1alpha1.ChangeRemoved, func(change *streamv1alpha1.Change) { change.Health = health })
		return all
	case history.Changed:
	}
	if !c.Before.SameWord(c.After) {
		add(streamv1alpha1.ChangeHealth, func(change *streamv1alpha1.Change) { change.Health = health })
	}
	for i := range c.Arcs {
		if ref := referenceChange(c, &c.Arcs[i]); ref != nil {
			add(streamv1alpha1.ChangeReference, func(change *streamv1alpha1.Change) { change.Reference = ref })
		}
	}
	if len(c.Paths) > 0 {
		add(streamv1alpha1.ChangeContent, func(change *streamv1alpha1.Change) { change.Paths, change.MorePaths = pathsOf(c.Paths), c.More })
	}
	return all
}

// healthChange returns the change of the health in an entry, nil for an object that never said.
func healthChange(e *history.Entry) *streamv1alpha1.HealthChange {
	word := func(h history.Health) (state, why string) {
		u := h.Unpack()
		if u.State == "unknown" {
			return "", u.Reason
		}
		return string(u.State), u.Reason
	}
	change := &streamv1alpha1.HealthChange{}
	change.From, _ = word(e.Before)
	change.To, change.Why = word(e.After)
	if *change == (streamv1alpha1.HealthChange{}) {
		return nil
	}
	return change
}

// pathsOf returns the changed fields for the client, nil if they are not known.
func pathsOf(paths []history.Path) []streamv1alpha1.ChangedPath {
	var all []streamv1alpha1.ChangedPath
	for _, p := range paths {
		if p.Path == "" {
			continue
		}
		out := streamv1alpha1.ChangedPath{Path: p.Path, Op: [...]string{streamv1alpha1.OpChanged, streamv1alpha1.OpAdded, streamv1alpha1.OpRemoved}[p.Op]}
		if p.Before != "" {
			out.Before = &p.Before
		}
		if p.After != "" {
			out.After = &p.After
		}
		all = append(all, out)
	}
	return all
}

// referenceChange returns the change of a reference, nil for an arc that another entry implies, and for a
// change of its fields alone.
func referenceChange(c *delivery.Changed, a *history.Arc) *streamv1alpha1.ReferenceChange {
	if a.Implied || a.Before.Exists == a.After.Exists {
		return nil
	}
	to := c.Target(a)
	if to == nil {
		return nil
	}
	ref := &streamv1alpha1.ReferenceChange{To: messageKey(to.Key), Kind: a.To.Kind, Type: streamv1alpha1.ArcType(a.Type.String()), Fields: to.Fields, Words: to.Words, Change: streamv1alpha1.OpAdded}
	switch {
	case a.Before.Exists:
		ref.Change = streamv1alpha1.OpRemoved
	case to.Missing:
		ref.Change = streamv1alpha1.OpMissing
	}
	return ref
}
