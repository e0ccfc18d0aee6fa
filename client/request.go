package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// Request is a view for one subscription: a GraphView's spec without a ServiceAccount, with the
// field names of the protocol. The GraphView's documentation describes the fields.
type Request struct {
	Queries    []Query     `json:"queries"`
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	Roots      *Roots      `json:"roots,omitempty"`
	// InferredReferences is Include or Exclude. Options.ExcludeInferred sets it to Exclude.
	InferredReferences string `json:"inferred_references,omitempty"`
}

// without returns the request for a graph without references that are only inferred, if exclude.
func (r Request) without(exclude bool) Request {
	if exclude {
		r.InferredReferences = "Exclude"
	}
	return r
}

// Query includes or excludes the resources that it matches.
type Query struct {
	Include *Include `json:"include,omitempty"`
	Exclude *Exclude `json:"exclude,omitempty"`
}

// Include selects resources, objects of them, and parts of those.
type Include struct {
	ResourceSelectorExpression string  `json:"resource_selector_expression"`
	Object                     *Object `json:"object,omitempty"`
}

// Exclude keeps resources out.
type Exclude struct {
	ResourceSelectorExpression string `json:"resource_selector_expression"`
}

// Object selects objects.
type Object struct {
	LabelSelector            string `json:"label_selector,omitempty"`
	FieldSelector            string `json:"field_selector,omitempty"`
	ObjectSelectorExpression string `json:"object_selector_expression,omitempty"`
	// Fields excludes JSONPath.
	Fields   map[string]string `json:"fields,omitempty"`
	JSONPath string            `json:"json_path,omitempty"`
}

// Namespaces selects namespaces.
type Namespaces struct {
	Names                    []string `json:"names,omitempty"`
	LabelSelector            string   `json:"label_selector,omitempty"`
	FieldSelector            string   `json:"field_selector,omitempty"`
	ObjectSelectorExpression string   `json:"object_selector_expression,omitempty"`
}

// Roots selects what a graph is explored from.
type Roots struct {
	Objects                   []RootObject `json:"objects,omitempty"`
	ObjectSelectorExpressions []string     `json:"object_selector_expressions,omitempty"`
	IgnoreArcDirection        []ArcType    `json:"ignore_arc_direction,omitempty"`
	// Follow excludes IgnoreArcDirection.
	Follow *Follow `json:"follow,omitempty"`
}

// RootObject selects roots in exactly one way: by Kind, LabelSelector or both, or by one
// of the last four. Namespace goes with each.
type RootObject struct {
	// Group is nil for any; "" is the core group.
	Group             *string `json:"group,omitempty"`
	Kind              string  `json:"kind,omitempty"`
	Namespace         string  `json:"namespace,omitempty"`
	Name              string  `json:"name,omitempty"`
	LabelSelector     string  `json:"label_selector,omitempty"`
	HelmRelease       string  `json:"helm_release,omitempty"`
	ArgoApplication   string  `json:"argo_application,omitempty"`
	FluxKustomization string  `json:"flux_kustomization,omitempty"`
	FluxHelmRelease   string  `json:"flux_helm_release,omitempty"`
}

// Follow says which way a graph is explored from its roots.
type Follow struct {
	Direction Direction `json:"direction"`
	// Depth is the most arcs from the nearest root, 0 for any number.
	Depth int `json:"depth,omitempty"`
	// Types of arcs to follow, none for all.
	Types []ArcType `json:"types,omitempty"`
}

// Direction says which way a graph is explored.
type Direction string

// The directions: Down leads to what an object refers to and owns, Up to what refers
// to it and owns it, Both to all of it.
const (
	Down Direction = "down"
	Up   Direction = "up"
	Both Direction = "both"
)

// Request follows the graph that a request describes, which exists for this subscription only.
// It requires the right to `get` the path /graph, and contains what the user may list and
// watch. It cannot be continued: a new connection starts with the whole graph.
func (c *Client) Request(r Request, o Options) *Subscription {
	o.From = nil
	return subscribe(func(ctx context.Context, _ start) (channel, error) {
		conn, err := c.dial(ctx, c.url(nil, "watch", "streams"), "graphview.mux.v1")
		if err != nil {
			return nil, err
		}
		m, err := openChannel(ctx, conn, r, &o)
		if err != nil {
			conn.close()
			return nil, err
		}
		return m, nil
	}, "request", o)
}

// multiplexed is a connection on which many graphs could be had. This one has
// one.
type multiplexed struct {
	*connection
	channel int64
}

// requestID is ours to choose; one request needs one.
const requestID = 1

func openChannel(ctx context.Context, conn *connection, r Request, o *Options) (*multiplexed, error) {
	what := channelRequest{Request: r.without(o.ExcludeInferred), Content: o.Content}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return askChannel(ctx, conn, what)
}

// channelRequest asks for a channel with the graph that a request describes, or with an answer
// about that graph.
type channelRequest struct {
	Request           Request `json:"request"`
	Content           Content `json:"content,omitempty"`
	Impact            string  `json:"impact,omitempty"`
	PropagationPolicy string  `json:"propagationPolicy,omitempty"`
}

// askChannel waits for the channel.
func askChannel(ctx context.Context, conn *connection, what channelRequest) (*multiplexed, error) {
	text, err := json.Marshal(struct {
		ID        int64          `json:"id"`
		Subscribe channelRequest `json:"subscribe"`
	}{requestID, what})
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
