package delivery

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// The types of warnings.
const (
	InformerSyncFailed     = "INFORMER_SYNC_FAILED"
	DiscoveryFailed        = "DISCOVERY_FAILED"
	NamespaceListFailed    = "NAMESPACE_LIST_FAILED"
	ObjectProcessingFailed = "OBJECT_PROCESSING_FAILED"
	AccessDenied           = "ACCESS_DENIED"
	LimitExceeded          = "LIMIT_EXCEEDED"
	RootNotFound           = "ROOT_NOT_FOUND"
)

// Warning is a warning of the stream protocol. Type and Attributes identify it.
type Warning struct {
	Type       string     `json:"t"`
	Message    string     `json:"m,omitempty"`
	Attributes Attributes `json:"a,omitzero"`

	// place restricts a warning to subscribers that may see it; nil: all subscribers.
	place  *access.Place
	number uint64 // when it was set
}

// Attributes of a warning. The group is set if the version is, also if it is empty.
type Attributes struct {
	Group     *string `json:"g,omitempty"`
	Version   string  `json:"v,omitempty"`
	Resource  string  `json:"r,omitempty"`
	Namespace string  `json:"ns,omitempty"`
	Name      string  `json:"n,omitempty"`
}

// AttributesOf returns the attributes of a warning about a resource, a resource in a namespace, or
// an object.
func AttributesOf(r graph.Resource, namespace, name string) Attributes {
	return Attributes{Group: &r.Group, Version: r.Version, Resource: r.Resource, Namespace: namespace, Name: name}
}

// About returns a warning about a resource, only for subscribers that may see the resource, in the
// namespace if it is not empty.
func About(kind, message string, r graph.Resource, namespace string) Warning {
	return Warning{
		Type: kind, Message: Bounded(message), Attributes: AttributesOf(r, namespace, ""),
		place: &access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace},
	}
}

// WarningID identifies a warning. A warning replaces an earlier one of equal id.
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

// Warning returns a warning with that identity and without a message.
func (id WarningID) Warning() Warning {
	w := Warning{Type: id.kind, Attributes: Attributes{Version: id.version, Resource: id.resource, Namespace: id.namespace, Name: id.name}}
	if id.ofResource {
		w.Attributes.Group = &id.group
	}
	return w
}

// ClearedFrames returns the messages that clear warnings.
func ClearedFrames(ids []WarningID) []*Frame {
	cleared := make([]Warning, 0, len(ids))
	for _, id := range slices.SortedFunc(slices.Values(ids), WarningID.compare) {
		cleared = append(cleared, id.Warning())
	}
	b := newFrameBuilder(false)
	b.warn(nil, cleared)
	b.close("", false)
	return b.frames
}

// compare orders ids.
func (id WarningID) compare(other WarningID) int { return strings.Compare(id.text(), other.text()) }

func (id WarningID) text() string {
	return strings.Join([]string{id.kind, id.group, id.version, id.resource, id.namespace, id.name}, "\x00")
}

// maxMessage bounds a message, in bytes.
const maxMessage = 512

// Bounded truncates a text to maxMessage.
func Bounded(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " …"
}

func (w *Warning) appendJSON(dst []byte) []byte {
	// A warning has only strings, so it always encodes.
	text, _ := json.Marshal(w)
	return append(dst, text...)
}

// PartialError is a failure that does not keep an object from being selected.
type PartialError struct {
	Err error
	// OfBound: the object exceeds a bound of the graph.
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

// outcome says whether the objects are selected.
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
