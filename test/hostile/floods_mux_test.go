package hostile

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestFloodOfSubscriptions: a user that keeps subscribing to graphs that do not exist, on the
// maximum number of connections, does not delay other users. That also holds while the API
// server does not answer; no user's credentials are refused then.
func TestFloodOfSubscriptions(t *testing.T) {
	namespace := newNamespace(t, "flood")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	// In a namespace of its own: all accounts of one are one user.
	nobody, alice := account(t, newNamespace(t, "flooder"), "nobody", "graphview-streams"), account(t, namespace, "alice", "graphview-viewer")
	path := "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace + "/graphs/one"
	meanwhile(t, func(tries *tally) {
		m := newModest(t, alice, path)
		m.answers(t, http.StatusOK, 4)
		m.wantOnly(t, "before", http.StatusOK)
		ctx, end := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		defer flood.Wait()
		defer end()
		c := client(t, "")
		const connections, inFlight = 20, 240
		var conns []*websocket.Conn // before the flood, which takes the user's share of what is open
		for range connections {
			conn, code, err := dial(t.Context(), c, streamsPath, "graphview.mux.v1", http.Header{"Authorization": {"Bearer " + nobody.BearerToken}})
			if err != nil {
				t.Fatalf("%d: %v", code, err)
			}
			conns = append(conns, conn)
		}
		for _, conn := range conns {
			flood.Go(func() { subscribeForEver(ctx, conn, namespace, inFlight, tries) })
		}
		m.answers(t, http.StatusOK, 16)
		m.wantOnly(t, "during the flood", http.StatusOK, http.StatusServiceUnavailable)
		if err := cluster.PauseAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := sync.OnceFunc(func() {
			if err := cluster.ResumeAPIServer(); err != nil {
				t.Error(err)
			}
		})
		defer resume()
		m.answers(t, http.StatusServiceUnavailable, 1)
		tries.measure(t)
		resume()
		m.answers(t, http.StatusOK, 4)
		m.wantOnly(t, "while the API server stood still, and after", http.StatusOK, http.StatusServiceUnavailable)
	})
}

// subscribeForEver keeps subscriptions in flight until ctx is done or the connection
// is cut.
func subscribeForEver(ctx context.Context, conn *websocket.Conn, namespace string, inFlight int, tries *tally) {
	defer conn.CloseNow()
	subscribe := func(id int) error {
		return conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"subscribe":{"namespace":%q,"name":"no-%d"}}`, id, namespace, id))
	}
	for id := range inFlight {
		if err := subscribe(id + 1); err != nil {
			tries.add("cut")
			return
		}
	}
	const fast = 1000 // answers, and then 100 a second: they take the processors of this test, and fill no more places
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for id := inFlight + 1; ; id++ {
		if id > fast {
			select {
			case <-pace.C:
			case <-ctx.Done():
				return
			}
		}
		_, _, err := conn.Read(ctx)
		if err == nil {
			tries.add("answered")
			err = subscribe(id)
		}
		if err != nil {
			if ctx.Err() == nil {
				tries.add("cut")
			}
			return
		}
	}
}
