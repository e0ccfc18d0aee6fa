package hostile

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"

	"graphview.dev/test/fixture"
)

const streamsPath = "/apis/stream.graphview.dev/v1alpha1/watch/streams"

// TestShares: a user takes what there is for one and no more, whatever it is of.
func TestShares(t *testing.T) {
	namespace := newNamespace(t, "shares")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	for name, test := range map[string]struct {
		path, protocol string
		// most is a ninth of all places; other clients may have some.
		asked, most int
	}{
		"graphs":                      {path: watchPath(namespace, "one"), protocol: "graphview.v1", asked: 1300, most: 1112},
		"connections for many graphs": {path: streamsPath, protocol: "graphview.mux.v1", asked: 300, most: 223},
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile(t, func(tries *tally) {
				collect(t)
				before := measure(t)
				var open held
				defer open.close()
				hog := client(t, "hog-"+test.protocol)
				inParallel(8, test.asked, func(int) {
					conn, code, err := dial(t.Context(), hog, test.path, test.protocol, nil)
					if err != nil {
						tries.add(fmt.Sprintf("HTTP %d", code))
						return
					}
					open.keep(conn)
					tries.add("let in")
				})
				tries.measure(t)
				if in, refused := tries.count("let in"), tries.count("HTTP 429"); in > test.most || in < test.most*9/10 || refused != test.asked-in {
					t.Errorf("%d were let in and %d refused, want about %d of %d", in, refused, test.most, test.asked)
				}
				conn, code, err := dial(t.Context(), client(t, "modest"), test.path, test.protocol, http.Header{})
				if err != nil {
					t.Fatalf("somebody else: %d, %v", code, err)
				}
				_ = conn.CloseNow()
				wantCheap(t, before, tries.during, test.most)
			})
		})
	}
}

// TestStrangersMakeRoom: connections without an authenticated request are bounded, and closed
// in time.
func TestStrangersMakeRoom(t *testing.T) {
	strange := fixture.TLS(t, credentials(""))
	meanwhile(t, func(tries *tally) {
		collect(t)
		before := measure(t)
		const connections = 1200
		var open []net.Conn
		defer func() {
			for _, conn := range open {
				_ = conn.Close()
			}
		}()
		for range connections {
			raw, err := net.Dial("tcp", address())
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, raw)
			if err := tls.Client(raw, strange).Handshake(); err != nil {
				tries.add("cut in the handshake")
				continue
			}
			tries.add("connected")
		}
		tries.measure(t)
		// One address has no more than five hundred of them.
		if n := tries.during.goroutines - before.goroutines; n > 600 {
			t.Errorf("%d goroutines for %d connections", n, connections)
		}
	})
}
