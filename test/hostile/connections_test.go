package hostile

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

func address() string { return strings.TrimPrefix(manager.URL(), "https://") }

// TestSlowHandshakes: a client that sends nothing, or one byte at a time, is disconnected: in
// the TLS handshake, in the header of a request, and in a body that the server does not read.
func TestSlowHandshakes(t *testing.T) {
	strange := fixture.TLS(t, credentials(""))
	slow := map[string]struct {
		n int
		// begin does what comes before the silence; dribble is said again and again
		// after it, and never ends.
		begin   func(conn net.Conn) (net.Conn, error)
		dribble string
	}{
		"silence before TLS": {n: 500, begin: func(c net.Conn) (net.Conn, error) { return c, nil }},
		"a slow handshake": {n: 300, dribble: "\x01", begin: func(c net.Conn) (net.Conn, error) {
			_, err := c.Write([]byte{0x16, 3, 1, 2, 0})
			return c, err
		}},
		"silence after TLS":      {n: 200, begin: say(strange, "")},
		"a slow header":          {n: 200, begin: say(strange, "GET /graph HTTP/1.1\r\nHost: localhost\r\nX-Slow: "), dribble: "a"},
		"a body kept back":       {n: 100, begin: say(strange, "POST /graph HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")},
		"a slow body":            {n: 100, begin: say(strange, "GET /graph HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"), dribble: "a"},
		"a slow body, no secret": {n: 100, begin: say(strange, "POST /readyz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"), dribble: "a\r\n1\r\n"},
	}
	meanwhile(t, func(tries *tally) {
		defer tries.measure(t)
		var all sync.WaitGroup
		for name, test := range slow {
			all.Go(func() {
				inParallel(test.n, test.n, func(int) {
					raw, err := net.Dial("tcp", address())
					if err != nil {
						t.Error(err)
						return
					}
					defer raw.Close()
					conn, err := test.begin(raw)
					if err != nil {
						tries.add(name + " cut at once")
						return
					}
					end := silenced(raw, conn, []byte(test.dribble))
					tries.add(name + " " + end)
					if end == "still open" {
						t.Errorf("%s is not cut", name)
					}
				})
			})
		}
		all.Wait()
	})
}

// say is the beginning of a request.
func say(config *tls.Config, text string) func(net.Conn) (net.Conn, error) {
	return func(c net.Conn) (net.Conn, error) {
		s := tls.Client(c, config)
		if err := s.Handshake(); err != nil || text == "" {
			return s, err
		}
		_, err := s.Write([]byte(text))
		return s, err
	}
}

// silenced says one byte a second until the peer hangs up.
func silenced(raw, conn net.Conn, dribble []byte) string {
	deadline := time.Now().Add(patience.For(within))
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		pace := time.NewTicker(time.Second)
		defer pace.Stop()
		for {
			select {
			case <-pace.C:
			case <-stop:
				return
			}
			if _, err := conn.Write(dribble); err != nil {
				return
			}
		}
	})
	defer writing.Wait()
	defer close(stop)
	_ = raw.SetReadDeadline(deadline)
	said, err := io.ReadAll(raw) // alerts and answers, encrypted
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "still open"
	case len(said) > 0:
		return "answered and cut"
	default:
		return "cut"
	}
}

// TestHeaders: what a header may have is bounded.
func TestHeaders(t *testing.T) {
	c := client(t, "stranger")
	for name, test := range map[string]struct {
		header http.Header
		query  string
		want   int
	}{
		"a header of a megabyte":     {header: http.Header{"X-Large": {strings.Repeat("a", 1<<20)}}, want: http.StatusRequestHeaderFieldsTooLarge},
		"ten thousand headers":       {header: many("X-Many-%d", 10_000), want: http.StatusRequestHeaderFieldsTooLarge},
		"a URL of a megabyte":        {query: "?since=" + strings.Repeat("a", 1<<20), want: http.StatusRequestHeaderFieldsTooLarge},
		"a rev of nobody's":          {query: "?since=" + strings.Repeat("a", 32<<10), want: http.StatusNotFound},
		"headers of the front proxy": {header: http.Header{"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}}, want: http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, manager.URL()+watchPath("nowhere", "none")+test.query, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header = test.header
			eventually(t, func() string {
				response, err := c.Do(request)
				if err != nil {
					return err.Error() // what the server does not read may reset the connection before its answer is read
				}
				defer response.Body.Close()
				if response.StatusCode != test.want {
					return fmt.Sprintf("%s, want %d", response.Status, test.want)
				}
				return ""
			})
		})
	}
	// An unauthenticated client cannot impersonate a user by a header.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, manager.URL()+watchPath("nowhere", "none"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}}
	response, err := client(t, "").Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("who claims to be the front proxy: %s", response.Status)
	}
}

func many(format string, n int) http.Header {
	all := http.Header{}
	for i := range n {
		all.Set(fmt.Sprintf(format, i), "a")
	}
	return all
}

// TestOrigins: pages of other hosts open nothing.
func TestOrigins(t *testing.T) {
	namespace := newNamespace(t, "origins")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	c := client(t, "reader")
	for origin, want := range map[string]int{
		"": http.StatusSwitchingProtocols, "https://" + address(): http.StatusSwitchingProtocols,
		"https://evil.example": http.StatusForbidden, "null": http.StatusForbidden, "http://localhost.evil.example": http.StatusForbidden,
		"https://localhost": http.StatusForbidden, "://": http.StatusForbidden, "file://": http.StatusForbidden,
	} {
		for path, protocol := range map[string]string{watchPath(namespace, "one"): "graphview.v1", "/graph": "gitlab-agent-graph-api"} {
			header := http.Header{}
			if origin != "" {
				header.Set("Origin", origin)
			}
			conn, code, err := dial(t.Context(), c, path, protocol, header)
			if err == nil {
				_ = conn.CloseNow()
			}
			if code != want {
				t.Errorf("%s from %q: %d, %v; want %d", path, origin, code, err, want)
			}
		}
	}
}

// small is a view of a namespace's ConfigMaps.
func small(namespace, name string) string {
	return fmt.Sprintf(`
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
  namespaces: {names: [%[1]s]}
`, namespace, name)
}

// TestThousandsOfConnections: they are held, cost little each, and the ones who
// come after them are let in.
func TestThousandsOfConnections(t *testing.T) {
	namespace := newNamespace(t, "crowd")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	meanwhile(t, func(tries *tally) {
		collect(t)
		before := measure(t)
		var open held
		defer open.close()
		clients := make([]*http.Client, 8)
		for i := range clients {
			clients[i] = client(t, fmt.Sprintf("crowd-%d", i%2))
		}
		const connections = 2000
		inParallel(len(clients), connections, func(n int) {
			conn, code, err := dial(t.Context(), clients[n%len(clients)], watchPath(namespace, "one"), "graphview.v1", nil)
			if err != nil {
				tries.add(fmt.Sprintf("HTTP %d", code))
				return
			}
			open.keep(conn)
			tries.add("let in")
		})
		collect(t)
		tries.measure(t)
		if in := tries.count("let in"); in != connections {
			t.Errorf("%d of %d were let in", in, connections)
		}
		wantCheap(t, before, tries.during, connections)
	})
}

// wantCheap wants attackers to cost no more than a bounded amount each.
func wantCheap(t *testing.T, before, during usage, n int) {
	t.Helper()
	wantEach(t, before, during, n, 256<<10)
}

func wantEach(t *testing.T, before, during usage, n, bound int) {
	t.Helper()
	each := (during.heap - before.heap) / n
	t.Logf("%d KiB of heap and %.1f goroutines for each of %d", each>>10, float64(during.goroutines-before.goroutines)/float64(n), n)
	if each > bound {
		t.Errorf("%d KiB of heap for each of %d, want at most %d", each>>10, n, bound>>10)
	}
	if per := (during.goroutines - before.goroutines) / n; per > 6 {
		t.Errorf("%d goroutines for each", per)
	}
}

// TestReadersThatDoNotRead: a subscriber with a closed window holds at most 64 KiB, beside the objects that all of
// them share. Neither the number nor the size of the objects matters, nor that every other one would take it compressed.
func TestReadersThatDoNotRead(t *testing.T) {
	many, large := newNamespace(t, "deaf-many"), newNamespace(t, "deaf-large")
	const manyObjects, largeObjects = 100, 12
	const manySize, largeSize = 64 << 10, 600 << 10
	fill(t, many, manyObjects, manySize) // more than a kernel takes for one of them
	fill(t, large, largeObjects, largeSize)
	for _, namespace := range []string{many, large} {
		apply(t, small(namespace, "large"))
		wantReady(t, namespace, "large")
	}
	for name, test := range map[string]struct {
		namespace     string
		objects, size int
	}{
		"many objects":  {namespace: many, objects: manyObjects, size: manySize},
		"large objects": {namespace: large, objects: largeObjects, size: largeSize},
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile(t, func(tries *tally) {
				config := fixture.TLS(t, credentials("deaf"))
				// The first readers make the things that all share, such as buffers for large objects.
				const first, readers = 60, 240
				open := make([]net.Conn, first+readers)
				defer func() {
					for _, conn := range open {
						if conn != nil {
							_ = conn.Close()
						}
					}
				}()
				// At once: readers that come one after another read the graph on several walks,
				// which have their own bytes of its large objects.
				come := func(open []net.Conn) {
					inParallel(8, len(open), func(n int) {
						conn, answer, err := deafen(config, watchPath(test.namespace, "large"), []string{"", "permessage-deflate"}[n%2])
						if err != nil {
							t.Error(err)
							return
						}
						open[n] = conn
						tries.add(answer)
					})
					change(t, test.namespace, fmt.Sprint(name, len(open)), test.objects)
					collect(t)
				}
				come(open[:first])
				before := measure(t)
				come(open[first:])
				tries.measure(t)
				if n := tries.count("101"); n != len(open) {
					t.Errorf("%d of %d were let in", n, len(open))
				}
				// An object is held once for all who are sent it: as it was when they came, and as it was changed.
				before.heap += 2 * test.objects * test.size
				wantEach(t, before, tries.during, readers, 64<<10)
			})
		})
		clearConfigMaps(t, test.namespace, "")
	}
}

// deafen opens a connection, upgrades it to a WebSocket and reads the answer's first line.
func deafen(config *tls.Config, path, extensions string) (conn net.Conn, answer string, err error) {
	raw, err := net.Dial("tcp", address())
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			_ = raw.Close()
		}
	}()
	// This limits what the kernel buffers for it.
	if err := raw.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return nil, "", err
	}
	if extensions != "" {
		extensions = "Sec-WebSocket-Extensions: " + extensions + "\r\n"
	}
	conn = tls.Client(raw, config)
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphview.v1\r\n%s\r\n", path, address(), extensions); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReaderSize(conn, 64).ReadString('\n')
	if err != nil {
		return nil, "", err
	}
	return conn, strings.Fields(line)[1], nil
}

// TestInvalidTokens: guessing tokens gets 401, and the API server is asked.
func TestInvalidTokens(t *testing.T) {
	c := client(t, "")
	meanwhile(t, func(tries *tally) {
		inParallel(8, 500, func(n int) {
			ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
			defer cancel()
			_, code, err := dial(ctx, c, watchPath("nowhere", "none"), "graphview.v1",
				http.Header{"Authorization": {fmt.Sprintf("Bearer guess-%d", n)}})
			tries.add(fmt.Sprintf("HTTP %d", code))
			if code != http.StatusUnauthorized {
				t.Errorf("%d, %v", code, err)
			}
		})
		tries.measure(t)
	})
}

// TestMessagesToStreams: a client that sends messages on a stream that takes none is closed
// with a reason.
func TestMessagesToStreams(t *testing.T) {
	namespace := newNamespace(t, "talk")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	c := client(t, "talker")
	for name, text := range map[string]string{"a word": "hello", "a megabyte": strings.Repeat("a", 1<<20), "nothing": ""} {
		conn, code, err := dial(t.Context(), c, watchPath(namespace, "one"), "graphview.v1", nil)
		if err != nil {
			t.Fatalf("%d: %v", code, err)
		}
		_ = conn.Write(t.Context(), websocket.MessageText, []byte(text))
		ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		cancel()
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.CloseNow()
	}
}
