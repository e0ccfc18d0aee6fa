package mux

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/impact"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// envelope bounds the members of a message beside spec, in bytes.
const envelope = 4 << 10

// message is a message of a client. Exactly one of subscribe and unsubscribe is set.
type message struct {
	id          int64
	subscribe   *Subscribe
	unsubscribe int64 // a channel's number, or 0
}

// Subscribe asks for a graph: of the view with this name, or of an ad-hoc view.
type Subscribe struct {
	Name  names.GraphName
	Since string
	// Have has the sums of the graph that the client has, "none" if it has nothing yet, or "" from a client
	// that does not compare.
	Have    string
	Content delivery.Content
	// Narrow is the part of the graph that is wanted, nil for all of it.
	Narrow *graph.Narrowing
	// Impact is a question about the graph, which is answered in its place. Nil: the graph is
	// wanted.
	Impact *impact.Question
	// Changes is a question about changes of the graph, and At the time of a graph of the past, "" for the
	// present one.
	Changes *streamv1alpha1.ChangesQuery
	At      string
	// Query has the same as the parameters of a URL, for a graph of another cluster.
	Query url.Values
	// Spec is that of the ad-hoc view. Nil: the graph has a name.
	Spec *v1alpha1.GraphViewSpec
}

// errNoID is the error of messages without an id, which cannot be answered, since an answer repeats the id.
var errNoID = errors.New("no id")

// parseMessage reads a client's message. The error is a *delivery.ClosedError, and
// errNoID beside it if the message has no id.
func parseMessage(text []byte) (m message, err error) {
	var known struct {
		ID *int64 `json:"id"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return m, errors.Join(errNoID, transport.Malformed("the message is not of the expected form: %v", err))
	}
	if known.ID == nil {
		return m, errors.Join(errNoID, transport.Malformed("the message has no id"))
	}
	m.id = *known.ID
	var all streamv1alpha1.ClientMessage
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return m, transport.Malformed("the message is not of the expected form: %v", err)
	}
	in, out := all.Subscribe, all.Unsubscribe
	switch {
	case (in == nil) == (out == nil):
		return m, transport.Malformed("the message must have either subscribe or unsubscribe")
	case out != nil && out.Channel <= 0:
		return m, transport.Malformed("unsubscribe.channel must be a channel's number")
	case out != nil:
		m.unsubscribe = out.Channel
		return m, nil
	}
	content, err := delivery.ParseContent(in.Content)
	if err != nil {
		return m, transport.Malformed("subscribe.%v", err)
	}
	narrow, err := delivery.ParseNarrowing(in.Root, in.Direction, in.Depth)
	if err != nil {
		return m, transport.Malformed("subscribe.root, direction, depth: %v", err)
	}
	var question *impact.Question
	if in.Impact != "" {
		asked, err := delivery.ParseImpact(in.Impact, in.PropagationPolicy)
		if err != nil {
			return m, transport.Malformed("subscribe.impact: %v", err)
		}
		question = &asked
	}
	asked := in.Spec != nil
	named := in.Namespace != "" && in.Name != ""
	switch {
	case asked && in.Cluster != "":
		return m, transport.Malformed("subscribe.cluster goes with a name: another cluster serves only graphs that a GraphView declares")
	case asked == (in.Namespace != "" || in.Name != "") || !asked && !named:
		return m, transport.Malformed("subscribe must have either namespace and name, or spec")
	case asked && in.Since != "":
		return m, transport.Malformed("subscribe.since goes with a name: an ad-hoc view begins with its channel")
	case question != nil && (in.Since != "" || in.Have != "" || narrow != nil):
		return m, transport.Malformed("subscribe.impact asks about a whole graph: leave since, have and root out")
	case in.Changes != nil && (question != nil || in.At != "") || (in.Changes != nil || in.At != "") && (in.Since != "" || in.Have != "" || narrow != nil):
		return m, transport.Malformed("subscribe.changes and subscribe.at ask about a whole graph: leave since, have, root and other questions out")
	case in.Cluster != "" && (in.Changes != nil || in.At != ""):
		return m, transport.Malformed("subscribe.changes and subscribe.at are for graphs of the hub's own cluster: get those of another one by its URL")
	case asked && narrow != nil:
		return m, transport.Malformed("subscribe.root goes with a name: an ad-hoc view has spec.roots")
	case named && in.Cluster != "":
		m.subscribe = &Subscribe{
			Name: names.GraphName{Cluster: in.Cluster, Namespace: in.Namespace, Name: in.Name}, Impact: question,
			Query: queryOf(map[string]string{
				"since": in.Since, "have": in.Have, "content": in.Content, "direction": in.Direction, "depth": strconv.Itoa(in.Depth),
				"impact": in.Impact, "propagationPolicy": in.PropagationPolicy,
			}, in.Root),
		}
		return m, nil
	case named:
		m.subscribe = &Subscribe{
			Name: names.GraphName{Namespace: in.Namespace, Name: in.Name}, Since: in.Since, Have: in.Have, Content: content, Narrow: narrow,
			Impact: question, Changes: in.Changes, At: in.At,
		}
		return m, nil
	}
	m.subscribe = &Subscribe{Spec: in.Spec, Have: in.Have, Content: content, Impact: question, Changes: in.Changes, At: in.At}
	return m, nil
}

// queryOf returns the parameters that are not empty.
func queryOf(parameters map[string]string, root []string) url.Values {
	query := url.Values{}
	for name, value := range parameters {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	if len(root) > 0 {
		query["root"] = root
	}
	return query
}

func encode(m *streamv1alpha1.ServerMessage) []byte {
	text, err := json.Marshal(m)
	if err != nil { // numbers and strings
		panic(err)
	}
	return text
}

// onChannel are the members that make a message one of a channel.
func onChannel(number int64) string { return `"channel":` + strconv.FormatInt(number, 10) + "," }
