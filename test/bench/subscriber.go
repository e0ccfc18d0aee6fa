package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

const graphsPath = "/apis/stream.graphview.dev/v1alpha1"

// patience is between two attempts at what is not there yet.
const patience = 20 * time.Millisecond

// subscriber is a dashboard: the administrator's WebSocket to the operator's own
// port.
type subscriber struct {
	operator *operator.Operator
	client   *http.Client
	conn     *websocket.Conn
}

func newSubscriber(plane *env.ControlPlane, process *operator.Operator) (*subscriber, error) {
	config := plane.Config()
	config.NextProtos = []string{"http/1.1"} // a WebSocket is an upgrade, which HTTP/2 has not
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("subscriber: %w", err)
	}
	return &subscriber{operator: process, client: client}, nil
}

func (s *subscriber) close() {
	if s.conn != nil {
		_ = s.conn.CloseNow() // it may be closed already
	}
	s.client.CloseIdleConnections()
}

// retry tries until there is no error, the operator has ended or ctx is done.
func (s *subscriber) retry(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		select {
		case <-s.operator.Done():
			return s.operator.Exited()
		default:
		}
		if ended := wait(ctx, patience); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// served waits until the operator serves graphs, and answers whom it has to ask
// the API server about.
func (s *subscriber) served(ctx context.Context) error {
	return s.retry(ctx, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.operator.URL()+graphsPath+"/graphs", http.NoBody)
		if err != nil {
			return fmt.Errorf("list graphs: %w", err)
		}
		response, err := s.client.Do(request)
		if err != nil {
			return fmt.Errorf("list graphs: %w", err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("list graphs: %s", response.Status)
		}
		return nil
	})
}

// follow subscribes as soon as the view is known and reads up to the message
// that says synced. The connection stays open.
func (s *subscriber) follow(ctx context.Context) (frames [][]byte, err error) {
	url := fmt.Sprintf("%s%s/watch/namespaces/%s/graphs/%s", s.operator.URL(), graphsPath, viewNamespace, viewName)
	if err := s.retry(ctx, func() error {
		conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: s.client, Subprotocols: []string{"graphview.v1"}}) //nolint:bodyclose // the library says that it needs not
		s.conn = conn
		return err
	}); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	s.conn.SetReadLimit(-1) // a single object may be larger than a message should be
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("stream: %w", err)
		}
		frames = append(frames, text)
		complete, err := saysSynced(text)
		if err != nil {
			return nil, err
		}
		if complete {
			return frames, nil
		}
	}
}

// saysSynced looks at the members of a message without decoding what is in them.
func saysSynced(text []byte) (bool, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.ReadToken(); err != nil {
		return false, fmt.Errorf("message: %w", err)
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return false, fmt.Errorf("message: %w", err)
		}
		if name.String() == "synced" {
			value, err := decoder.ReadToken()
			return err == nil && value.Kind() == 't', err
		}
		if err := decoder.SkipValue(); err != nil {
			return false, fmt.Errorf("message: %w", err)
		}
	}
	return false, nil
}
