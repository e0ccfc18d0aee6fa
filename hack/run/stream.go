package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
)

// demonstrate prints the sample's stream while the sample changes, until ctx is
// done, and before each round of changes what remind says. A graph that was not complete by a deadline is an error.
func demonstrate(ctx context.Context, plane *env.ControlPlane, remind func()) error {
	conn, done, err := subscribe(ctx, plane)
	if err != nil {
		return err
	}
	defer done()
	fmt.Printf("the graph %s/%s (+ set, ~ set again, - deleted):\n", sampleNamespace, sampleView)

	printer := newPrinter(os.Stdout)
	synced := make(chan struct{})
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		for {
			_, text, err := conn.Read(running)
			if err != nil {
				return fmt.Errorf("stream: %w", err)
			}
			complete, err := printer.print(text)
			if err != nil {
				return err
			}
			if complete {
				close(synced)
			}
		}
	})
	group.Go(func() error {
		select {
		case <-synced:
			return changeSample(running, plane, remind)
		case <-running.Done():
			return context.Cause(running)
		}
	})
	err = group.Wait()
	select {
	case <-synced:
	default:
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return errors.New("the graph was not complete in time")
		}
	}
	return unlessDone(ctx, err)
}

// subscribe opens the sample's stream through the API server, as the
// administrator.
func subscribe(ctx context.Context, plane *env.ControlPlane) (conn *websocket.Conn, done func(), err error) {
	config := plane.Config()
	config.NextProtos = []string{"http/1.1"} // a WebSocket is an upgrade, which HTTP/2 has not
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("client: %w", err)
	}
	url := fmt.Sprintf("%s%s/watch/namespaces/%s/graphs/%s",
		strings.Replace(plane.URL(), "https://", "wss://", 1), graphsPath, sampleNamespace, sampleView)
	conn, _, err = websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"graphview.v1"}})
	if err != nil {
		return nil, nil, fmt.Errorf("subscribe: %w", err)
	}
	conn.SetReadLimit(-1) // a single object may be larger than a message should be
	return conn, func() {
		_ = conn.CloseNow() // it may be closed already
		client.CloseIdleConnections()
	}, nil
}
