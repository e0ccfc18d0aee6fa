package watch

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

var podsKey = Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}

// server speaks as much of list and watch as there is to get wrong. It serves
// the same objects whatever is asked for.
type server struct {
	*httptest.Server
	// dial connects to the server, nil with a socket.
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	version int
	objects map[string]string // by name, without version
	at      map[string]int
	history []frameAt
	changed chan struct{}
	cut     chan struct{}
	// compacted is the version up to which nothing is known any more, and snapshots
	// are what there was at others.
	compacted int
	snapshots map[int][]item
	// instead answers in the place of the server, where it returns true.
	instead func(w http.ResponseWriter, r *http.Request, watch bool) bool
	asked   []string
}

type frameAt struct {
	version int
	frame   string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := unstarted(t)
	s.Start()
	return s
}

// newHTTP2Server is newServer, but speaks HTTP/2 as an API server does.
func newHTTP2Server(t *testing.T) *server {
	t.Helper()
	s := unstarted(t)
	s.startHTTP2()
	return s
}

func (s *server) startHTTP2() {
	s.EnableHTTP2 = true
	s.StartTLS()
}

// inMemory replaces the sockets of a server with pipes. The time of a bubble passes while its goroutines wait for a
// pipe, but not while they wait for a socket.
func (s *server) inMemory() {
	_ = s.Listener.Close()
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	s.Listener, s.dial = network, network.dial
}

// pipes is a network in memory, with one server.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // the transport does
	}
}

func unstarted(t *testing.T) *server {
	t.Helper()
	s := &server{
		version: 1, objects: map[string]string{}, at: map[string]int{}, snapshots: map[int][]item{},
		changed: make(chan struct{}), cut: make(chan struct{}),
	}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}

func (s *server) config(t *testing.T) *rest.Config {
	t.Helper()
	if s.TLS != nil {
		transport := s.Client().Transport.(*http.Transport)
		if s.dial != nil {
			transport.DialContext = s.dial
		}
		return &rest.Config{Host: s.URL, Transport: transport}
	}
	transport := &http.Transport{DialContext: s.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: s.URL, Transport: transport}
}

// object writes an object with that much more metadata, and other members.
func object(name, metadata, others string) string {
	return fmt.Sprintf(`"metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","resourceVersion":"VERSION"%s}%s`, name, name, metadata, others)
}

func (s *server) set(name, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "MODIFIED"
	if _, ok := s.objects[name]; !ok {
		kind = "ADDED"
	}
	s.version++
	s.objects[name], s.at[name] = body, s.version
	s.emit(kind, s.render(name, `"kind":"Pod","apiVersion":"v1",`))
}

// fill sets so many objects.
func (s *server) fill(objects int) {
	for i := range objects {
		name := fmt.Sprintf("object-%03d", i)
		s.set(name, object(name, "", ""))
	}
}

func (s *server) delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.at[name] = s.version
	frame := s.render(name, `"kind":"Pod","apiVersion":"v1",`)
	delete(s.objects, name)
	s.emit("DELETED", frame)
}

// forget deletes without telling the watchers.
func (s *server) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	delete(s.objects, name)
}

func (s *server) render(name, before string) string {
	body := strings.Replace(s.objects[name], "VERSION", strconv.Itoa(s.at[name]), 1)
	if strings.HasPrefix(body, "{") || !strings.HasPrefix(body, `"`) {
		return body // not an object that takes a kind
	}
	return "{" + before + body + "}"
}

func (s *server) emit(kind, object string) {
	s.history = append(s.history, frameAt{s.version, fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", kind, object)})
	close(s.changed)
	s.changed = make(chan struct{})
}

// send emits a frame that changes nothing.
func (s *server) send(kind, object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.emit(kind, strings.ReplaceAll(object, "VERSION", strconv.Itoa(s.version)))
}

// hangUp ends all watches.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

func (s *server) answer(f func(w http.ResponseWriter, r *http.Request, watch bool) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = f
}

// requests counts those whose description has the prefix.
func (s *server) requests(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.asked {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watch := r.URL.Query().Get("watch") != ""
	verb := "list"
	if watch {
		verb = "watch"
	}
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s rv=%s continue=%s accept=%s path=%s labels=%s limit=%s",
		verb, r.URL.Query().Get("resourceVersion"), r.URL.Query().Get("continue"), r.Header.Get("Accept"),
		r.URL.Path, r.URL.Query().Get("labelSelector"), r.URL.Query().Get("limit")))
	instead := s.instead
	s.mu.Unlock()
	if instead != nil && instead(w, r, watch) {
		return
	}
	if watch {
		s.serveWatch(w, r)
		return
	}
	s.serveList(w, r)
}

func (s *server) serveWatch(w http.ResponseWriter, r *http.Request) {
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	s.mu.Lock()
	cut, old := s.cut, version < s.compacted
	s.mu.Unlock()
	if old {
		refuse(w, http.StatusGone, metav1.StatusReasonExpired)
		return
	}
	follow(w, r, version, cut, func(sent int) ([]frameAt, <-chan struct{}) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.history[sent:], s.changed
	}, func() {})
}

// follow answers a watch with what comes after a version, until it is cut. history returns
// all but the first frames, and a channel that is closed when there is another. Before each
// that is sent, before is called.
func follow(w http.ResponseWriter, r *http.Request, version int, cut <-chan struct{}, history func(sent int) ([]frameAt, <-chan struct{}), before func()) {
	write(w, "")
	for sent := 0; ; {
		frames, changed := history(sent)
		select {
		case <-cut:
			return // before what came after it
		default:
		}
		sent += len(frames)
		for _, f := range frames {
			if f.version > version {
				before()
				write(w, f.frame)
			}
		}
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func write(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(body))
	w.(http.Flusher).Flush()
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no"}`, reason, code)
}

// start runs a Manager against s until the test ends.
func start(t *testing.T, s *server, r *recorder, change ...func(*Options)) *recorded {
	t.Helper()
	o := Options{Config: s.config(t), Retry: wait.Backoff{Duration: 5 * time.Millisecond}}
	for _, f := range change {
		f(&o)
	}
	m, err := NewManager(o)
	if err != nil {
		t.Fatal(err)
	}
	run(t, m)
	return &recorded{m, r}
}
