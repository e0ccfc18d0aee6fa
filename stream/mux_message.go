package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// maxMuxMessage is how large a client's message on a mux may be: a request, and
// room for what is around it.
const maxMuxMessage = maxRequest + 4<<10

// muxMessage is what a client says on a mux. Exactly one of subscribe and
// unsubscribe is set.
type muxMessage struct {
	id          int64
	subscribe   *muxSubscribe
	unsubscribe int64 // a channel, or 0
}

// muxSubscribe is either a view's name or a request of the client's own.
type muxSubscribe struct {
	name    graphview.Name
	since   string
	content delivery.Content
	request *graphview.Spec
}

// errNoID is of messages that cannot be answered, since nobody knows their id.
var errNoID = errors.New("no id")

// parseMuxMessage reads a client's message. The error is a
// *delivery.ClosedError, and errNoID beside it if the message has no id.
func parseMuxMessage(text []byte) (m muxMessage, err error) {
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
	var all struct {
		ID        int64 `json:"id"`
		Subscribe *struct {
			Namespace string          `json:"namespace"`
			Name      string          `json:"name"`
			Since     string          `json:"since"`
			Content   string          `json:"content"`
			Request   json.RawMessage `json:"request"`
		} `json:"subscribe"`
		Unsubscribe *struct {
			Channel int64 `json:"channel"`
		} `json:"unsubscribe"`
	}
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
	asked := len(in.Request) > 0 && string(in.Request) != "null"
	named := in.Namespace != "" && in.Name != ""
	switch {
	case asked == (in.Namespace != "" || in.Name != "") || !asked && !named:
		return m, transport.Malformed("subscribe must have either namespace and name, or request")
	case asked && in.Since != "":
		return m, transport.Malformed("subscribe.since goes with a name: a view of a request begins with its channel")
	case named:
		m.subscribe = &muxSubscribe{name: graphview.Name{Namespace: in.Namespace, Name: in.Name}, since: in.Since, content: content}
		return m, nil
	}
	spec, err := parseRequest(in.Request)
	if err != nil {
		return m, transport.Malformed("subscribe.request: %v", err)
	}
	m.subscribe = &muxSubscribe{request: &spec, content: content}
	return m, nil
}

// muxAnswer answers a client's message.
type muxAnswer struct {
	ID      int64              `json:"id"`
	Channel int64              `json:"channel,omitempty"`
	Error   *transport.Problem `json:"error,omitempty"`
}

func refusedAnswer(id int64, closed *delivery.ClosedError) muxAnswer {
	why := transport.ProblemOf(closed)
	return muxAnswer{ID: id, Error: &why}
}

// onChannel are the members that make a message one of a channel.
func onChannel(number int64) string { return `"channel":` + strconv.FormatInt(number, 10) + "," }
