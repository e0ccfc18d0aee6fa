package stream

import (
	"encoding/json"
	"net/http"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/contents"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/transport"
)

// haveOption is the parameter with the sums of the graph that a client has; see package contents.
const haveOption = "have"

// Values of haveOption that are no sums: the client has nothing yet, or sends the sums in its first message.
const (
	haveNothing = "none"
	haveMessage = "message"
)

// sumsBytes is the memory of a client's bucket until it has been compared: its sum, and that of the view.
const sumsBytes = 2 * 8

// readHave reads the parameter of a request. It reports whether the sums come in the first message. The error
// is a Status.
func readHave(r *http.Request, upgrade bool, o *delivery.SubscribeOptions) (later bool, err error) {
	text := r.URL.Query().Get(haveOption)
	switch {
	case text == "":
		return false, nil
	case text == haveMessage && !upgrade:
		return false, apierrors.NewBadRequest("?have=message needs a WebSocket: only there can a client send a message")
	case text == haveMessage:
		o.Tags = true
		return true, nil
	}
	if err := setHave(o, text); err != nil {
		return false, apierrors.NewBadRequest("?have=: " + err.Error())
	}
	return false, nil
}

// setHave sets the options of a client that has a graph with these sums.
func setHave(o *delivery.SubscribeOptions, text string) (err error) {
	if text == "" {
		return nil
	}
	o.Tags = true
	if text != haveNothing {
		o.Have, err = contents.Parse(text)
	}
	return err //nolint:wrapcheck // callers name the place
}

// readHaveMessage reads the sums from the first message of a stream. Errors are those of
// readFirst.
func (s *Server) readHaveMessage(stream *admission.Stream, conn *websocket.Conn, out *transport.Socket, o *delivery.SubscribeOptions) error {
	text, err := s.readFirst(stream, conn, out, "have")
	if err != nil {
		return err
	}
	var message streamv1alpha1.HaveMessage
	if err := json.Unmarshal(text, &message); err != nil {
		return transport.Malformed("the first message is not of the form {\"have\":\"…\"}: %v", err)
	}
	if err := setHave(o, message.Have); err != nil {
		return transport.Malformed("have: %v", err)
	}
	return nil
}
