package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
)

// Spec is the spec of a GraphView, without a ServiceAccount.
type Spec = v1alpha1.GraphViewSpec

// Direction is the direction in which a graph is explored.
type Direction = v1alpha1.Direction

// The directions: Down leads to the objects that an object refers to or owns, Up to the objects that refer
// to it or own it, Both to all of them.
const (
	Down = v1alpha1.DirectionDown
	Up   = v1alpha1.DirectionUp
	Both = v1alpha1.DirectionBoth
)

// Request follows the graph of an ad-hoc view, which exists for this subscription only.
// It requires the right to `get` the path /graph, and contains the objects that the user may list and
// watch. It cannot be continued: a new connection starts with the whole graph.
func (c *Client) Request(spec Spec, o Options) *Subscription {
	o.From = nil
	return subscribe(func(ctx context.Context, _ start) (channel, error) {
		conn, err := c.dial(ctx, c.url(nil, "watch", "streams"), "graphview.mux.v1")
		if err != nil {
			return nil, err
		}
		m, err := openChannel(ctx, conn, spec, &o)
		if err != nil {
			conn.close()
			return nil, err
		}
		return m, nil
	}, "request", o)
}

// multiplexed is a connection for many graphs, which has a single one here.
type multiplexed struct {
	*connection
	channel int64
}

// requestID is the id of the only request. The client chooses it.
const requestID = 1

func openChannel(ctx context.Context, conn *connection, spec Spec, o *Options) (*multiplexed, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return askChannel(ctx, conn, &streamv1alpha1.Subscribe{Spec: declared(spec, o), Content: string(o.Content)})
}

// declared returns the spec of the ad-hoc view that options ask for.
func declared(spec Spec, o *Options) *Spec {
	if o.ExcludeInferred {
		spec.InferredReferences = v1alpha1.ExcludeInferred
	}
	return &spec
}

// askChannel waits for the channel.
func askChannel(ctx context.Context, conn *connection, what *streamv1alpha1.Subscribe) (*multiplexed, error) {
	text, err := json.Marshal(streamv1alpha1.ClientMessage{ID: new(int64(requestID)), Subscribe: what})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	if err := conn.write(ctx, text); err != nil {
		return nil, err
	}
	for {
		text, err := conn.read(ctx)
		if err != nil {
			return nil, err
		}
		var answer streamv1alpha1.ServerMessage
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, fmt.Errorf("parse answer: %w", err)
		}
		switch {
		case answer.Error != nil:
			return nil, answer.Error
		case answer.ID == nil || *answer.ID != requestID:
			// Not about us.
		case answer.Channel == 0:
			return nil, errors.New("the server's answer names no channel")
		default:
			return &multiplexed{connection: conn, channel: answer.Channel}, nil
		}
	}
}

func (m *multiplexed) next(ctx context.Context) (*Received, error) {
	message, text, err := m.receive(ctx)
	if err != nil {
		return nil, err
	}
	return &Received{Message: message.Message, JSON: text}, nil
}

// receive returns the next message on the channel and its text.
func (m *multiplexed) receive(ctx context.Context) (*streamv1alpha1.ServerMessage, []byte, error) {
	for {
		text, err := m.read(ctx)
		if err != nil {
			return nil, nil, err
		}
		message := &streamv1alpha1.ServerMessage{}
		if err := json.Unmarshal(text, message); err != nil {
			return nil, nil, fmt.Errorf("parse message: %w", err)
		}
		switch {
		case message.Channel == m.channel:
			return message, text, nil
		case message.Channel == 0 && message.Error != nil:
			return nil, nil, message.Error // of the whole connection
		}
	}
}

func (m *multiplexed) continues() bool { return false }
