package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/stream/fleet/gateway"
	"graphview.dev/stream/relay/wire"
)

const (
	// maxListed bounds a member's answer to a request for its views.
	maxListed = 8 << 20
	// maxReason bounds the text of a member that refuses a user: the message of a condition is
	// never longer.
	maxReason = 32 << 10
)

// Views implements stream.Fleet.
func (h *Hub) Views(ctx context.Context, cluster string, who user.Info, verb, namespace, name string) ([]stream.View, error) {
	asked := wire.Listing{User: wire.User{Name: who.GetName(), Groups: who.GetGroups(), Verb: verb}, Namespace: namespace, Name: name}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	for {
		to, err := h.route(ctx, cluster)
		if err != nil {
			return nil, err
		}
		listed, err := list(ctx, to, body)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errForeign):
			h.o.Logger.Info("The answer of a member is not a list of views; closing its tunnel", "link", cluster, "cause", err.Error())
			to.conn.Close()
			return nil, &delivery.ClosedError{Reason: reason.Internal, Message: "the cluster does not answer with graphs"}
		case err != nil:
			h.drop(to)
			to.conn.Close() // its member dials again
			continue
		case listed.Ended != nil:
			return nil, foreign(listed.Ended.Err())
		}
		views := make([]stream.View, 0, len(listed.Items))
		for _, item := range listed.Items {
			if namespace == "" || item.Namespace == namespace {
				views = append(views, &view{hub: h, cluster: cluster, user: asked.User, item: item})
			}
		}
		return views, nil
	}
}

// errForeign means that a member's answer is not of the expected form.
var errForeign = errors.New("not an answer of a gateway")

func list(ctx context.Context, to *route, body []byte) (*wire.Listed, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://member"+gateway.ListPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := to.conn.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxListed+1))
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %s", errForeign, response.Status)
	case len(text) > maxListed:
		return nil, fmt.Errorf("%w: more than %d bytes", errForeign, maxListed)
	}
	listed := &wire.Listed{}
	if err := json.Unmarshal(text, listed); err != nil {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	return listed, nil
}

// foreign returns the reason that a member has given, as far as it is about the graph. A
// member cannot say that the user's credentials at the hub are bad.
func foreign(closed *delivery.ClosedError) *delivery.ClosedError {
	out := &delivery.ClosedError{Reason: closed.Reason, Message: strings.ToValidUTF8(closed.Message[:min(len(closed.Message), maxReason)], "")}
	switch out.Reason {
	case reason.Unauthorized, reason.UnexpectedMessage, reason.Malformed, reason.ClusterUnreachable:
		out.Reason = reason.Internal
	default:
	}
	return out
}
