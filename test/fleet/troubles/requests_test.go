package troubles

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/fixture"
	"graphview.dev/test/network"
	"graphview.dev/test/operator"
)

// graphPath is that of the graph of the troubled member.
func (e *episode) graphPath() string {
	return pathTo(e.troubled().link, "/namespaces/shop/graphs/view")
}

// get asks one replica of the hub.
func get(ctx context.Context, at *operator.Operator, path string) (code int, text string, err error) {
	client, err := rest.HTTPClientFor(hubPlane.Config())
	if err != nil {
		return 0, "", err
	}
	defer client.CloseIdleConnections()
	code, body, err := fixture.Get(ctx, client, at.URL()+path)
	return code, string(body), err
}

// waiting: users wait for a member that comes. Each of them gets the graph.
func waiting(ctx context.Context, e *episode) error {
	m := e.troubled()
	m.Kill()
	var asking sync.WaitGroup
	failed := make(chan error, 20)
	for i := range cap(failed) {
		asking.Go(func() {
			code, text, err := get(ctx, e.replicas()[i%2], e.graphPath()+"?timeout=2m")
			if err != nil || code != http.StatusOK {
				failed <- answered("a user who waits for a member that comes", code, text, err)
			}
		})
	}
	pause(ctx, e.some(3*time.Second))
	err := m.Restart()
	asking.Wait()
	return errors.Join(err, counted(failed))
}

// answered is an error that says how a user was answered.
func answered(whom string, code int, text string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", whom, err)
	}
	return fmt.Errorf("%s: HTTP %d %s", whom, code, message(text))
}

// message returns that of a Status, or a text on one line.
func message(text string) string {
	var status metav1.Status
	if err := json.Unmarshal([]byte(text), &status); err == nil && status.Message != "" {
		text = status.Message
	}
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(text), " "))
}

// counted returns one of some errors, and how many there are.
func counted(failed chan error) error {
	if n := len(failed); n > 0 {
		return fmt.Errorf("%d of %d: %w", n, cap(failed), <-failed)
	}
	return nil
}

// twoReplicas: of two replicas of a member, the one that came last stands still. A user of either replica of
// the hub gets the graph from the other one.
func twoReplicas(ctx context.Context, e *episode) error {
	second, err := e.replica(ctx, e.troubled(), "second")
	if err != nil {
		return err
	}
	defer second.Kill()
	if why := e.connected(ctx, len(e.members)+1); why != "" {
		return errors.New(why)
	}
	failed := make(chan error, len(e.replicas()))
	var asking sync.WaitGroup
	err = freeze(second, func() error {
		for i, replica := range e.replicas() {
			asking.Go(func() {
				began := time.Now()
				code, text, err := get(ctx, replica, e.graphPath())
				if err != nil || code != http.StatusOK {
					failed <- answered(fmt.Sprintf("hub-%d beside a frozen replica, after %v", i, time.Since(began).Round(time.Millisecond)), code, text, err)
				}
			})
		}
		asking.Wait()
		return nil
	})
	return errors.Join(err, counted(failed))
}

// unknownLinks: a replica of the hub starts while its API server does not answer, so that it knows no
// links. It tells no user and no member a final word.
func unknownLinks(ctx context.Context, e *episode) error {
	replica := e.replicas()[e.either()]
	replica.Kill()
	e.api.Turn(network.Away)
	defer e.api.Turn(network.Weather{})
	if err := replica.Restart(); err != nil {
		return err
	}
	thaw := time.AfterFunc(e.some(4*time.Second), func() { e.api.Turn(network.Weather{Latency: 300 * time.Millisecond}) })
	defer thaw.Stop()
	for ctx.Err() == nil {
		code, text, err := get(ctx, replica, e.graphPath()+"?timeout=1s")
		switch {
		case err != nil || code >= http.StatusInternalServerError: // not yet
			pause(ctx, 20*time.Millisecond)
		case code == http.StatusOK:
			return nil
		default:
			return answered("a replica of the hub that starts", code, text, nil)
		}
	}
	return ctx.Err()
}

// greedy: one user has 600 streams of a member at a replica of the hub. Another one gets the graph.
func greedy(ctx context.Context, e *episode) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config := hubPlane.ClientConfig("mallory", "system:masters")
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	replica := e.replicas()[e.either()]
	var opening, reading sync.WaitGroup
	for range 600 {
		opening.Go(func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, replica.URL()+pathTo(e.troubled().link, "/watch/namespaces/shop/graphs/view"), http.NoBody)
			if err != nil {
				return
			}
			response, err := client.Do(request)
			if err != nil {
				return // refused or not, the other user counts
			}
			reading.Go(func() {
				defer response.Body.Close()
				_, _ = io.Copy(io.Discard, response.Body)
			})
		})
	}
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		opening.Wait()
	}()
	select {
	case <-opened:
	case <-time.After(10 * time.Second): // the rest waits for a place
	}
	code, text, err := get(ctx, replica, e.graphPath()+"?timeout=10s")
	if err != nil || code != http.StatusOK {
		err = answered("a user beside one with 600 streams", code, text, err)
	}
	cancel()
	<-opened
	reading.Wait()
	return err
}

// strangers: handshakes without a token come in faster than a hub verifies them, and the tunnels are cut. The
// member comes back.
func strangers(ctx context.Context, e *episode) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var knocking sync.WaitGroup
	for i := range 32 {
		knocking.Go(func() {
			for ctx.Err() == nil {
				_, _, _ = fixture.Get(ctx, client, "https://"+e.hub.Tunnels()[i%2]+"/tunnel/v1/clusters/"+e.troubled().link) // it is refused
				pause(ctx, 10*time.Millisecond)
			}
		})
	}
	pause(ctx, time.Second)
	err := e.cut(ctx, 20*time.Millisecond)
	if why := e.connected(ctx, len(e.members)); why != "" {
		err = errors.Join(err, fmt.Errorf("while strangers knock: %s", why))
	}
	cancel()
	knocking.Wait()
	return err
}
