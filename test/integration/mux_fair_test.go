package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/test/oracle"
)

// TestMuxFairness: while a large graph is on its way to a slow reader, a change
// of a small one comes next; it is not sent behind the rest of the large one.
func TestMuxFairness(t *testing.T) {
	const objects, size = 240, 100 << 10 // some 24 messages
	letAllConnect(t)
	c := newClient(t)
	large, small := newNamespace(t, c), newNamespace(t, c)
	var creating errgroup.Group
	creating.SetLimit(8)
	for n := range objects {
		creating.Go(func() error {
			return c.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: large, Name: fmt.Sprint("large-", n)}, Data: map[string]string{"text": noise(uint64(n), size)},
			})
		})
	}
	if err := creating.Wait(); err != nil {
		t.Fatal(err)
	}
	engine := runEngine(t, graphview.Options{})
	server := startStream(t, c, stream.Of(engine))
	names := map[string]graphview.Name{"large": {Namespace: large, Name: "large"}, "small": {Namespace: small, Name: "small"}}
	for namespace, name := range names {
		spec := configMaps(name.Namespace)
		spec.Queries[0].Include.Object.ObjectSelectorExpression = fmt.Sprintf("name.startsWith('%s')", namespace)
		if err := engine.Apply(t.Context(), name, "uid-"+name.Name, specOf(t, spec)); err != nil {
			t.Fatal(err)
		}
		view, _ := engine.View(name)
		if err := view.WaitSynced(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	road := ownPort(t, server, cluster.Config())
	transport, ok := road.client.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("%T", road.client.Transport)
	}
	// Little of what is sent is out of the server's hands.
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
			return nil, err
		}
		return conn, nil
	}
	m := openMux(t, road)
	next := func() int64 {
		t.Helper()
		for {
			text, err := read(t, m.conn)
			if err != nil {
				t.Fatal(err)
			}
			before := len(m.order)
			if err := m.take([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if len(m.order) > before {
				return m.order[before]
			}
		}
	}
	const smallChannel, largeChannel = 1, 2
	m.sendSubscribe(t, 1, names["small"])
	if channel := next(); channel != smallChannel { // empty, and synced
		t.Fatalf("a message of channel %d", channel)
	}
	m.sendSubscribe(t, 2, names["large"])
	if channel := next(); channel != largeChannel {
		t.Fatalf("a message of channel %d", channel)
	}
	// Nothing is read now.
	createConfigMap(t, c, small, "small")
	// A subscriber that reads has it.
	view, _ := engine.View(names["small"])
	witness := follow(t.Context(), view)
	eventually(t, soon, func() string {
		vertices := 0
		witness.Look(func(c *oracle.Client) { vertices = len(c.Graph().Vertices) })
		if vertices != 1 {
			return fmt.Sprintf("%d vertices", vertices)
		}
		return ""
	})
	for !m.channels[largeChannel].Synced() {
		next()
	}
	at, after := 0, 0
	for _, channel := range m.order[1:] {
		switch {
		case channel == smallChannel:
			at = after
		default:
			after++
		}
	}
	if after < objects*size/delivery.MaxFrameBytes {
		t.Fatalf("the large graph came in %d messages", after)
	}
	if len(m.order) != after+2 {
		t.Fatalf("%d messages, %d of the large graph: the small one has not come before its end", len(m.order), after)
	}
	t.Logf("the small change came after %d of the %d messages of the large graph", at, after)
	if at > after/2 {
		t.Errorf("the small change came after %d of the %d messages of the large graph", at, after)
	}
}

// noise is text that does not compress well.
func noise(seed uint64, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	random := rand.New(rand.NewPCG(seed, 7))
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return string(text)
}
