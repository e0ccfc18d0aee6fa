package tunnel

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/testr"
)

// hub accepts tunnels and sends them to conns.
func newHub(t *testing.T, lifetime time.Duration) (address, caFile string, conns chan *Conn, headers chan http.Header) {
	t.Helper()
	conns, headers = make(chan *Conn, 8), make(chan http.Header, 8)
	var n atomic.Int64 // the last ID
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, AcceptOptions{ID: fmt.Sprint("tunnel-", n.Add(1)), Lifetime: lifetime})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		headers <- r.Header.Clone()
		conns <- c
		<-c.Down()
	}))
	t.Cleanup(server.Close)
	return "wss" + strings.TrimPrefix(server.URL, "https"), caOf(t, server), conns, headers
}

// caOf writes the CA of a server into a file.
func caOf(t testing.TB, server *httptest.Server) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// dial runs a Dialer until the test ends, or cancel is called. Then done is closed.
func dial(t *testing.T, address, caFile string, handler http.Handler) (cancel func(), done <-chan struct{}) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := NewDialer(Options{URL: address, TokenFile: token, CAFile: caFile, Instance: "run", Version: "v1", Handler: handler, Logger: testr.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return cancel, ended
}

func post(t *testing.T, c *Conn, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://member"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(response.StatusCode, " ", string(text))
}

var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	fmt.Fprint(w, r.URL.Path, " ", string(text))
})

func TestTunnel(t *testing.T) {
	address, caFile, conns, headers := newHub(t, time.Hour)
	dial(t, address, caFile, echo)
	first := <-conns
	if h := <-headers; h.Get("Authorization") != "Bearer secret" || h.Get(InstanceHeader) != "run" || h.Get(ReplacesHeader) != "" {
		t.Errorf("the member sends %v", h)
	}
	if got := post(t, first, "/relay/list", "hello"); got != "200 /relay/list hello" {
		t.Error(got)
	}
	var second *Conn
	t.Run("there is one tunnel for each replica of the hub", func(t *testing.T) {
		tell(t, first, 2)
		second = <-conns
		if h := <-headers; h.Get(ReplacesHeader) != "" {
			t.Errorf("it replaces %q", h.Get(ReplacesHeader))
		}
	})

	t.Run("a tunnel that is cut is opened again", func(t *testing.T) {
		second.Close()
		next := <-conns
		<-headers
		if got := post(t, next, "/a", "b"); got != "200 /a b" {
			t.Error(got)
		}
		second = next
	})

	t.Run("a tunnel of a replica that has left is not opened again", func(t *testing.T) {
		tell(t, first, 1)
		second.Close()
		tell(t, first, 3)
		for range 2 {
			<-conns
			<-headers
		}
		if len(conns) > 0 {
			t.Error("there is a fourth tunnel")
		}
	})
}

// tell tells the member the number of the hub's replicas.
func tell(t *testing.T, c *Conn, replicas int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://member"+ReplicasPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(ReplicasHeader, strconv.Itoa(replicas))
	response, err := c.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

// TestWindow: a hub that does not read an answer holds at most its window.
func TestWindow(t *testing.T) {
	address, caFile, conns, _ := newHub(t, time.Hour)
	written := make(chan int, 1)
	dial(t, address, caFile, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * time.Second))
		n, chunk := 0, make([]byte, 8<<10)
		for {
			m, err := w.Write(chunk)
			if n += m; err != nil {
				break
			}
		}
		written <- n
	}))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://member/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (<-conns).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	const buffers = 32 << 10 // of net/http, at both ends
	if n := <-written; n > Window+buffers {
		t.Errorf("the member sent %d bytes of an answer that nobody reads, where the window has %d", n, Window)
	}
}

// TestPauses: the longest pause after a refusal is longer than after an outage of the hub, and
// than while the member looks for another replica of the hub.
func TestPauses(t *testing.T) {
	for code, want := range map[int]time.Duration{
		http.StatusUnauthorized: maxRefusedPause, http.StatusConflict: maxPause, http.StatusTooManyRequests: maxRefusedPause,
		http.StatusServiceUnavailable: maxPause, http.StatusBadGateway: maxPause,
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }))
		t.Cleanup(server.Close)
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := NewDialer(Options{URL: "wss" + strings.TrimPrefix(server.URL, "https"), TokenFile: token, CAFile: caOf(t, server), Logger: testr.New(t)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.dial(t.Context(), nil)
		if got := longestPause(err); err == nil || got != want {
			t.Errorf("%v: a pause of at most %s, want %s", err, got, want)
		}
		server.Close()
		if _, err = d.dial(t.Context(), nil); err == nil || longestPause(err) != maxPause {
			t.Errorf("%v: a pause of at most %s, want %s", err, longestPause(err), maxPause)
		}
	}
}

// deadlines is a connection that knows its last deadline.
type deadlines struct {
	net.Conn

	last time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.last = at
	return nil
}

// TestDeadlineEndsWithItsBatch: the timer of a WebSocket's deadline would end a tunnel when it fires while another batch
// is written.
func TestDeadlineEndsWithItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		conn := &deadlines{Conn: here, last: time.Now()}
		c := &carrier{Conn: conn, down: make(chan struct{}), next: make(chan struct{}, 1), room: make(chan struct{}, 1)}
		c.writing.Go(c.flush)
		if _, err := c.Write([]byte("frame")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if until := time.Until(conn.last); until != answerWithin {
			t.Errorf("a batch may take %v, want %v", until, answerWithin)
		}
		if _, err := io.ReadFull(there, make([]byte, len("frame"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !conn.last.IsZero() {
			t.Errorf("it has a deadline in %v", time.Until(conn.last))
		}
		close(c.down)
		c.writing.Wait()
	})
}

// TestSuccessor: the next tunnel is open before the last one ends, which is before its lifetime ends.
func TestSuccessor(t *testing.T) {
	address, caFile, conns, headers := newHub(t, time.Minute+time.Second)
	dial(t, address, caFile, echo)
	first := <-conns
	<-headers
	next := <-conns
	if h := <-headers; h.Get(ReplacesHeader) != "tunnel-1" {
		t.Errorf("it replaces %q", h.Get(ReplacesHeader))
	}
	if got := post(t, next, "/a", "b"); got != "200 /a b" {
		t.Error(got)
	}
	<-first.Down()
}

// TestRunJoins: a Dialer that has ended serves no request any more, not even one of a tunnel
// that was cut meanwhile.
func TestRunJoins(t *testing.T) {
	address, caFile, conns, _ := newHub(t, time.Hour)
	serving, ended := make(chan struct{}), false
	cancel, done := dial(t, address, caFile, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(serving)
		<-r.Context().Done()
		<-time.After(500 * time.Millisecond) // a slow end
		ended = true
	}))
	conn := <-conns
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://member/", http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		if response, err := conn.RoundTrip(request); err == nil {
			response.Body.Close()
		}
	}()
	<-serving
	cancel()
	conn.Close()
	<-asked
	<-done
	if !ended {
		t.Error("Run returned before the request had ended")
	}
}
