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

// Greeting is what an edge is told first.
type Greeting struct {
	// Run is that of the holder's process.
	Run string `json:"run"`
	// Synced: the holder's graph is complete.
	Synced bool `json:"synced,omitempty"`
}

// Place is where objects are, and in Answers whether a subscriber may see them.
type Place struct {
	Group     string `json:"g,omitempty"`
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Allowed   bool   `json:"y,omitempty"`
}

// PlaceOf is an access.Place.
func PlaceOf(p access.Place) Place {
	return Place{Group: p.Group, Resource: p.Resource, Namespace: p.Namespace}
}

// Of is the access.Place.
func (p Place) Of() access.Place {
	return access.Place{Group: p.Group, Resource: p.Resource, Namespace: p.Namespace}
}

// Answers are what is known of what the subscribers of a channel may see. An answer
// never changes: with another one, a subscriber has another channel.
type Answers struct {
	// Of is the channel whose answers these begin with, so that each is said once; 0:
	// they are all in Places. Of a Tell it is the channel itself.
	Of uint64 `json:"of,omitempty"`
	// Digest is that of delivery.Rights.
	Digest string  `json:"digest"`
	Places []Place `json:"places,omitempty"`
}

// Opening says what a channel is for.
type Opening struct {
	Answers

	// Continue has the channel begin where Of was after its delivery number Step, which
	// all its subscribers have not said to have had; 0: where Of began. Without it, it
	// begins after the revision Since.
	Continue bool   `json:"continue,omitempty"`
	Step     uint64 `json:"step,omitempty"`

	Since string `json:"since,omitempty"`
	Wanted

	// Narrow is the part of the graph that is wanted; absent, all of it. Owner stands for
	// the user who asks for it, and does not say who that is.
	Narrow *graph.Narrowing `json:"narrow,omitempty"`
	Owner  string           `json:"owner,omitempty"`
	// Key asks for one object, once, instead of for the graph.
	Key *graph.Key `json:"key,omitempty"`
}

// Wanted is what the subscribers of a channel want of the graph, or of a part of it.
type Wanted struct {
	Content delivery.Content `json:"content,omitempty"`
	// ExcludeInferred leaves out references that are only inferred.
	ExcludeInferred bool `json:"excludeInferred,omitempty"`
}

// Finding is one object; absent, there is none.
type Finding struct {
	Object *delivery.Found `json:"object,omitempty"`
}

// Ending is a delivery.ClosedError.
type Ending struct {
	Reason  reason.Reason `json:"reason"`
	Message string        `json:"message,omitempty"`
}

// EndingOf is how a channel ends because of an error.
func EndingOf(closed *delivery.ClosedError) Ending {
	return Ending{Reason: closed.Reason, Message: closed.Message}
}

// Err is the error.
func (e Ending) Err() *delivery.ClosedError {
	if !e.Reason.Known() {
		e.Reason = reason.Internal
	}
	return &delivery.ClosedError{Reason: e.Reason, Message: e.Message}
}

// Subscribers are those that a replica has of the views whose status another one writes,
// to which it says so. It says all of them: what it said before does not count any more.
type Subscribers struct {
	Run   string            `json:"run"`
	Views []ViewSubscribers `json:"views"`
}

// ViewSubscribers is how many a view has.
type ViewSubscribers struct {
	Namespace   string `json:"ns"`
	Name        string `json:"n"`
	Subscribers int    `json:"s"`
}

// AppendControl appends a whole message whose payload is one of the structures above.
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

// AppendNumber appends a whole message whose payload is a number.
func AppendNumber(dst []byte, t Type, channel, n uint64) []byte {
	var text [binary.MaxVarintLen64]byte
	length := binary.PutUvarint(text[:], n)
	return append(Append(dst, t, channel, length), text[:length]...)
}

// ParseNumber reads the payload of such a message.
func ParseNumber(m Message) (uint64, error) {
	n, length := binary.Uvarint(m.Payload)
	if length <= 0 || length != len(m.Payload) {
		return 0, fmt.Errorf("message %q of another replica: its payload is no number", m.Type)
	}
	return n, nil
}

// Parse reads the payload of a message into one of the structures above.
func Parse(m Message, into any) error {
	if err := json.Unmarshal(m.Payload, into); err != nil {
		return fmt.Errorf("message %q of another replica: %w", m.Type, err)
	}
	return nil
}
