package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// Greeting is the holder's first message, before it looks for the view.
type Greeting struct {
	// Run is that of the holder's process.
	Run string `json:"run"`
	// Version is the protocol version, from the list that the edge offered.
	Version string `json:"version"`
}

// Held says that the holder has the view.
type Held struct {
	// Synced: the holder's graph is complete.
	Synced bool `json:"synced,omitempty"`
}

// Staleness says whether the holder's graphs are stale.
type Staleness struct {
	Stale bool `json:"stale,omitempty"`
}

// Place is where objects are, and in Answers whether a subscriber may see them.
type Place struct {
	Group     string `json:"g,omitempty"`
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Allowed   bool   `json:"y,omitempty"`
}

// PlaceOf converts an access.Place.
func PlaceOf(p access.Place) Place {
	return Place{Group: p.Group, Resource: p.Resource, Namespace: p.Namespace}
}

// Of converts it back.
func (p Place) Of() access.Place {
	return access.Place{Group: p.Group, Resource: p.Resource, Namespace: p.Namespace}
}

// Answers say which places the subscriber of a channel may see. An answer never changes:
// with another one, the subscriber opens another channel.
type Answers struct {
	// Digest is that of delivery.Rights.
	Digest string `json:"digest"`
	// Of is the digest of answers that these extend, and that another channel of the
	// relay has; empty: Places are all of them.
	Of     string  `json:"of,omitempty"`
	Places []Place `json:"places,omitempty"`
}

// User is a user of a hub, as the hub authenticated it. The gateway of another cluster asks
// its own API server about the user, under the prefix of the hub.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
	// Verb is what the user does with the graph: get, list or watch.
	Verb string `json:"verb"`
}

// Opening says what a channel sends.
type Opening struct {
	Answers

	// User is sent by a hub, instead of Answers.
	User *User `json:"user,omitempty"`

	// Window is the number of bytes that may be sent before the edge grants more.
	Window int `json:"window,omitempty"`
	// Since is the revision after which the channel begins.
	Since   string           `json:"since,omitempty"`
	Content delivery.Content `json:"content,omitempty"`
	// ExcludeInferred leaves out references that are only inferred.
	ExcludeInferred bool `json:"excludeInferred,omitempty"`
	// JoinWalk is that of delivery.SubscribeOptions.
	JoinWalk bool `json:"joinWalk,omitempty"`

	// Narrow is the part of the graph to send; nil: all of it. Owner is a pseudonym of the
	// user whose turns and costs the subscription counts as.
	Narrow *graph.Narrowing `json:"narrow,omitempty"`
	Owner  string           `json:"owner,omitempty"`
	// Key asks for one object, once, instead of the graph.
	Key *graph.Key `json:"key,omitempty"`
}

// Finding is one object; nil if there is none.
type Finding struct {
	Object *delivery.Found `json:"object,omitempty"`
}

// Ending is a delivery.ClosedError.
type Ending struct {
	Reason  reason.Reason `json:"reason"`
	Message string        `json:"message,omitempty"`
}

// Listing asks a gateway for the views of its cluster that a user may see: all of them, those
// of a namespace, or one.
type Listing struct {
	User      User   `json:"user"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Item is one view of an answer to a Listing.
type Item struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Refused says why the view is not served; nil: it is.
	Refused     *Ending `json:"refused,omitempty"`
	Vertices    int     `json:"vertices,omitempty"`
	Arcs        int     `json:"arcs,omitempty"`
	Roots       int     `json:"roots,omitempty"`
	Subscribers int     `json:"subscribers,omitempty"`
	Synced      bool    `json:"synced,omitempty"`
}

// Listed answers a Listing: Items, or an Ending.
type Listed struct {
	Items []Item  `json:"items,omitempty"`
	Ended *Ending `json:"ended,omitempty"`
}

// EndingOf converts an error.
func EndingOf(closed *delivery.ClosedError) Ending {
	return Ending{Reason: closed.Reason, Message: closed.Message}
}

// Err converts it back.
func (e Ending) Err() *delivery.ClosedError {
	if !e.Reason.Known() {
		e.Reason = reason.Internal
	}
	return &delivery.ClosedError{Reason: e.Reason, Message: e.Message}
}

// AppendControl appends a message whose payload is one of the structures above.
func AppendControl(dst []byte, t Type, channel uint64, payload any) []byte {
	if payload == nil {
		return Append(dst, t, channel, 0)
	}
	text, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", payload, err)) // they always have a JSON form
	}
	return append(Append(dst, t, channel, len(text)), text...)
}

// Parse reads the payload of a message into one of the structures above.
func Parse(m Message, into any) error {
	if err := json.Unmarshal(m.Payload, into); err != nil {
		return fmt.Errorf("relay message %q: %w", m.Type, err)
	}
	return nil
}

// AppendNumber appends a message whose payload is a number.
func AppendNumber(dst []byte, t Type, channel, n uint64) []byte {
	var text [binary.MaxVarintLen64]byte
	length := binary.PutUvarint(text[:], n)
	return append(Append(dst, t, channel, length), text[:length]...)
}

// ParseNumber reads the payload of such a message.
func ParseNumber(m Message) (uint64, error) {
	n, length := binary.Uvarint(m.Payload)
	if length <= 0 || length != len(m.Payload) {
		return 0, fmt.Errorf("relay message %q: the payload is not a number", m.Type)
	}
	return n, nil
}
