package delivery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// Warning is a warning of the stream protocol. Type and Attributes identify it.
type Warning struct {
	Type       string     `json:"t"`
	Message    string     `json:"m,omitempty"`
	Attributes Attributes `json:"a,omitzero"`

	// place restricts the subscribers, see gate.permitted. Nil means all subscribers.
	place  *access.Place
	number uint64 // Warnings.number when it was set or cleared
}

// Attributes identify the subject of a warning. Group is set if Version is: "" is the core group.
type Attributes struct {
	Group     *string `json:"g,omitempty"`
	Version   string  `json:"v,omitempty"`
	Resource  string  `json:"r,omitempty"`
	Namespace string  `json:"ns,omitempty"`
	Name      string  `json:"n,omitempty"`
}

// attributesOf returns the attributes of a warning about a resource, a resource in a namespace, or
// an object.
func attributesOf(r graph.Resource, namespace, name string) Attributes {
	return Attributes{Group: &r.Group, Version: r.Version, Resource: r.Resource, Namespace: namespace, Name: name}
}

// About returns a warning about a resource, in one namespace if that is not empty. See gate.permitted
// for the subscribers that get it.
func About(kind, message string, r graph.Resource, namespace string) Warning {
	return Warning{
		Type: kind, Message: Bounded(message), Attributes: attributesOf(r, namespace, ""),
		place: &access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace},
	}
}

// WarningID identifies a warning. A warning replaces an earlier one with the same id.
type WarningID struct {
	kind, group, version, resource, namespace, name string
	ofResource                                      bool
}

// ID returns the identity of the warning.
func (w *Warning) ID() WarningID {
	a := w.Attributes
	id := WarningID{kind: w.Type, version: a.Version, resource: a.Resource, namespace: a.Namespace, name: a.Name}
	if a.Group != nil {
		id.group, id.ofResource = *a.Group, true
	}
	return id
}

func (id WarningID) compare(other WarningID) int { return strings.Compare(id.text(), other.text()) }

func (id WarningID) text() string {
	return strings.Join([]string{id.kind, id.group, id.version, id.resource, id.namespace, id.name}, "\x00")
}

// maxMessage is the maximum length of a message, in bytes.
const maxMessage = 512

// Bounded truncates a text to maxMessage, and appends … if it did.
func Bounded(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " …"
}

// PartialError is a failure for an object that the view selects nevertheless.
type PartialError struct {
	Err error
	// OfBound means that the object exceeds a bound of the graph.
	OfBound bool
}

func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartialError) Unwrap() error { return e.Err }

// cause is the reason why objects could not be evaluated, or only in part.
type cause struct {
	text    string
	partial bool
	ofBound bool
	// coarse is the text for an author who may read fewer objects than the view watches.
	coarse string
}

func causeOf(err error) cause {
	partial, ok := errors.AsType[*PartialError](err)
	c := cause{text: Bounded(err.Error()), partial: ok, ofBound: ok && partial.OfBound}
	c.coarse = c.text
	var failed interface{ CoarseText() string }
	if errors.As(err, &failed) {
		c.coarse = failed.CoarseText()
	}
	return c
}

// outcome describes the effect of the failure on the objects.
func (c cause) outcome() string {
	if c.partial {
		return "understood only in part"
	}
	return "not selected"
}

// resourceText formats a resource for messages.
func resourceText(r graph.Resource) string {
	return strings.TrimPrefix(r.Group+"/"+r.Version+"/"+r.Resource, "/")
}

// MaxNamedNamespaces is the maximum number of namespaces in a spec for which there is an ACCESS_DENIED
// warning for each namespace. Each namespace takes an access review.
const MaxNamedNamespaces = 8

// warningBytes is the approximate memory of one warning.
const warningBytes = 300

// warningSet has the warnings that depend on a subscriber's rights or roots. It is immutable, and
// compared as a pointer.
type warningSet struct {
	generation uint64 // of the Scope that the warnings are about
	warnings   map[WarningID]Warning
}

// since returns the difference from the set that the subscriber has, which may be nil.
func (s *warningSet) since(before *warningSet) (set, cleared []Warning) {
	var old map[WarningID]Warning
	if before != nil {
		old = before.warnings
	}
	for _, id := range slices.SortedFunc(maps.Keys(old), WarningID.compare) {
		if _, still := s.warnings[id]; !still {
			w := old[id]
			w.Message = ""
			cleared = append(cleared, w)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.warnings), WarningID.compare) {
		if w := s.warnings[id]; old[id].Message != w.Message {
			set = append(set, w)
		}
	}
	return set, cleared
}

// bytes returns the approximate memory of the set, which may be nil.
func (s *warningSet) bytes() int {
	if s == nil {
		return 0
	}
	return warningBytes * len(s.warnings)
}

// deniedTo returns the ACCESS_DENIED warnings of a viewer. They are about resources that the view
// selects and the viewer may not read, and do not reveal whether objects exist. All viewers with
// one slot get the same pointer, so that equal states stay equal. It returns nil if rights are
// unknown.
func (p *Publisher) deniedTo(v viewer, g *gate) *warningSet {
	scope := p.o.State.Scope()
	v.narrow = "" // rights do not depend on it
	at := p.changes.slot(v.digest())
	at.mu.Lock()
	old := at.denied
	at.mu.Unlock()
	if old != nil && old.generation == scope.Generation {
		return old
	}
	made := &warningSet{generation: scope.Generation, warnings: deniedWarnings(g, scope)}
	if !g.knowsAll() {
		return nil
	}
	at.mu.Lock()
	if other := at.denied; other != old && other.generation == made.generation {
		made = other // another goroutine was faster
	}
	old, at.denied = at.denied, made
	at.mu.Unlock()
	p.changes.count(at, made.bytes()-old.bytes())
	return made
}

// askForWarnings asks for the rights that the warnings of a new subscriber need.
func (p *Publisher) askForWarnings(v viewer, g *gate) {
	if v.rights != nil {
		set, _, _, _ := p.o.Warnings.since(0)
		g.permitted(set, p.o.State.Scope().Namespaces)
		p.deniedTo(v, g)
	}
}

// deniedWarnings returns the warnings about the resources of a scope.
func deniedWarnings(g *gate, scope Scope) map[WarningID]Warning {
	denied := make(map[WarningID]Warning)
	for _, r := range scope.Resources {
		if !r.Namespaced || scope.Namespaces == nil || len(scope.Namespaces) > MaxNamedNamespaces {
			if g.allows(access.Place{Group: r.Group, Resource: r.Resource.Resource}) {
				continue
			}
			w := Denied(r.Resource, r.Namespaced, "")
			denied[w.ID()] = w
			continue
		}
		for namespace := range scope.Namespaces {
			if g.allows(access.Place{Group: r.Group, Resource: r.Resource.Resource, Namespace: namespace}) {
				continue
			}
			w := Denied(r.Resource, true, namespace)
			denied[w.ID()] = w
		}
	}
	return limited(denied)
}

// Denied returns the warning that a viewer may not list and watch a resource: in one namespace or, if
// that is empty, wherever the viewer has no right.
func Denied(r graph.Resource, namespaced bool, namespace string) Warning {
	w := Warning{Type: streamv1alpha1.AccessDenied, Attributes: attributesOf(r, namespace, "")}
	switch {
	case namespace != "":
		w.Message = fmt.Sprintf("%s in %s is left out: you may not list and watch it there", resourceText(r), namespace)
	case namespaced:
		w.Message = resourceText(r) + " is left out of every namespace where you may not list and watch it"
	default:
		w.Message = resourceText(r) + " is left out: you may not list and watch it"
	}
	return w
}
