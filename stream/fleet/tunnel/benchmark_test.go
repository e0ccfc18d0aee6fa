package tunnel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-logr/logr"
)

// quietHub accepts tunnels without headers of a test, which b ends.
func quietHub(b *testing.B) (address, caFile string, conns chan *Conn) {
	b.Helper()
	conns = make(chan *Conn, 1024)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, AcceptOptions{ID: "tunnel", Lifetime: time.Hour, Windows: &Windows{}})
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		conns <- c
		<-c.Down()
	}))
	b.Cleanup(server.Close)
	return "wss" + strings.TrimPrefix(server.URL, "https"), caOf(b, server), conns
}

// member runs a Dialer with a handler until b ends, or until stop is called.
func member(b *testing.B, address, caFile string, handler http.Handler) (stop func()) {
	b.Helper()
	token := filepath.Join(b.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		b.Fatal(err)
	}
	d, err := NewDialer(Options{URL: address, TokenFile: token, CAFile: caFile, Instance: "run", Version: "v1", Handler: handler, Logger: logr.Discard()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-done
	})
	return cancel
}

// held returns the memory of heap and stacks that is in use.
func held() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkIdle measures the memory of a tunnel that is idle, both ends together, and beside it that of
// an idle WebSocket, which has the same connection and no HTTP/2.
func BenchmarkIdle(b *testing.B) {
	const n = 200
	b.Run("tunnel", func(b *testing.B) {
		for b.Loop() {
			address, caFile, conns := quietHub(b)
			before := held()
			var stops []func()
			for range n {
				stops = append(stops, member(b, address, caFile, echo))
				<-conns
			}
			b.ReportMetric(float64(held()-before)/n/1024, "KiB/tunnel")
			for _, stop := range stops {
				stop()
			}
		}
	})
	b.Run("WebSocket", func(b *testing.B) {
		for b.Loop() {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				_, _, _ = conn.Read(r.Context()) // until the client hangs up
			}))
			client := server.Client()
			before := held()
			var open []*websocket.Conn
			for range n {
				conn, _, err := websocket.Dial(b.Context(), server.URL, &websocket.DialOptions{HTTPClient: client})
				if err != nil {
					b.Fatal(err)
				}
				open = append(open, conn)
			}
			b.ReportMetric(float64(held()-before)/n/1024, "KiB/tunnel")
			for _, conn := range open {
				_ = conn.CloseNow()
			}
			server.Close()
		}
	})
}

// BenchmarkStalled measures a small request on a tunnel with 300 unread responses, beside one
// on an idle tunnel.
func BenchmarkStalled(b *testing.B) {
	for _, stalled := range []int{0, 300} {
		b.Run(fmt.Sprint(stalled, " stalled"), func(b *testing.B) {
			address, caFile, conns := quietHub(b)
			member(b, address, caFile, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				chunk := make([]byte, 64<<10)
				for r.URL.Path == "/endless" && r.Context().Err() == nil {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			}))
			conn := <-conns
			get := func(path string) *http.Response {
				request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "https://member"+path, http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				response, err := conn.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				return response
			}
			for range stalled {
				defer get("/endless").Body.Close()
			}
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				get("/short").Body.Close()
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}

// BenchmarkFar measures one response over a line with a round-trip time of 50 ms, beside the same bytes
// over plain TLS.
func BenchmarkFar(b *testing.B) {
	const size = 64 << 20
	write := func(w io.Writer) {
		chunk := make([]byte, 256<<10)
		for range size / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	b.Run("tunnel", func(b *testing.B) {
		address, caFile, conns := quietHub(b)
		near := farther(b, strings.TrimPrefix(address, "wss://"), 25*time.Millisecond)
		member(b, "wss://"+near, caFile, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w) }))
		conn := <-conns
		b.SetBytes(size)
		for b.Loop() {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "https://member/", http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			response, err := conn.RoundTrip(request)
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, response.Body); n != size || err != nil {
				b.Fatal(n, err)
			}
			response.Body.Close()
		}
	})
	b.Run("TLS", func(b *testing.B) {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w) }))
		defer server.Close()
		near := farther(b, strings.TrimPrefix(server.URL, "https://"), 25*time.Millisecond)
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12, ServerName: "example.com"}}}
		defer client.CloseIdleConnections()
		b.SetBytes(size)
		for b.Loop() {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://"+near, http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, response.Body); n != size || err != nil {
				b.Fatal(n, err)
			}
			response.Body.Close()
		}
	})
}

// farther returns an address from which bytes reach another one later by delay, and the answers too. The
// line has any bandwidth.
func farther(b *testing.B, to string, delay time.Duration) (address string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				return
			}
			running.Go(func() { late(near, far, delay) })
			running.Go(func() { late(far, near, delay) })
			b.Cleanup(func() {
				near.Close()
				far.Close()
			})
		}
	})
	b.Cleanup(func() {
		listener.Close()
	})
	return listener.Addr().String()
}

// late copies bytes, each of them after a delay.
func late(from, to net.Conn, delay time.Duration) {
	type sent struct {
		at   time.Time
		text []byte
	}
	under := make(chan sent, 1<<16)
	go func() {
		defer close(under)
		for {
			text := make([]byte, 32<<10)
			n, err := from.Read(text)
			if err != nil {
				return
			}
			under <- sent{time.Now().Add(delay), text[:n]}
		}
	}()
	for s := range under {
		time.Sleep(time.Until(s.at))
		if _, err := to.Write(s.text); err != nil {
			break
		}
	}
	for range under { // until it is closed
	}
	to.Close()
}
