package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/replicas"
	"graphview.dev/test/fixture"
)

var (
	web   = graphview.Name{Namespace: "shop", Name: "web"}
	other = graphview.Name{Namespace: "shop", Name: "other"}
	pods  = graph.Resource{Version: "v1", Resource: "pods"}
)

type object struct{ text string }

func (o *object) UID() string                            { return o.text }
func (o *object) HasContent() bool                       { return true }
func (o *object) Size() int                              { return len(o.text) }
func (o *object) AppendJSON(dst []byte) ([]byte, error)  { return append(dst, o.text...), nil }
func (o *object) Tree() (map[string]any, error)          { return jsontree.Whole([]byte(o.text)) }
func (o *object) ReadJSON(read func([]byte) error) error { return read([]byte(o.text)) }

// stage is a holder of one view, and an edge.
type stage struct {
	*delivery.Publisher

	graph    *graph.Graph
	source   graph.SourceID
	lens     *graph.Lens
	version  uint64
	client   *Client
	member   replicas.Member
	over     *delivery.Interruption
	shared   *delivery.Shared
	handler  *holder.Handler
	left     chan replicas.Member
	stale    chan bool
	unsynced chan struct{} // is closed when the graph is complete; nil: it is
	any      bool          // each name is that of the view
	slow     chan struct{} // Acquire waits until it is closed; nil: it does not wait
	shutdown func()
}

func newStage(t testing.TB) *stage {
	t.Helper()
	return newAdmittingStage(t, nil)
}

// newAdmittingStage returns a stage whose holder decides about users; nil: it is sent answers.
func newAdmittingStage(t testing.TB, admit holder.Admit) *stage {
	t.Helper()
	s := &stage{graph: graph.New(nil), over: &delivery.Interruption{Over: make(chan struct{})}, shared: &delivery.Shared{},
		left: make(chan replicas.Member, 1), stale: make(chan bool, 1)}
	run, news := delivery.NewRun(), make(chan struct{})
	s.Publisher = delivery.NewPublisher(delivery.Source{
		Name: web.String(), UID: "uid", Run: run, Shared: s.shared, Warnings: delivery.NewWarnings(func() {}), Logger: logr.Discard(),
		Err: func() error { return nil }, Synced: func() bool { return true }, News: func() <-chan struct{} { return news },
		Interruption: func() *delivery.Interruption { return s.over }, Notify: func() {},
		Scope: func() delivery.Scope {
			return delivery.Scope{Resources: []delivery.ScopedResource{{Resource: pods, Namespaced: true}}}
		},
	})
	s.graph.Update(func() {
		s.source = s.graph.AddSource(graph.Kind{Kind: "Pod"}, pods, graph.ScopeNamespaced)
		s.lens = s.graph.NewLens()
		s.lens.Watch(s.source)
		s.lens.Use(graph.Kind{Kind: "Pod"}, pods)
	})
	s.SetLens(s.lens)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s.handler = holder.New(holder.Options{Views: s, Run: run.ID(), Admit: admit})
	server := httptest.NewUnstartedServer(s.handler)
	server.EnableHTTP2 = true
	holder.Configure(server.Config)
	server.StartTLS()
	s.member = replicas.Member{Run: run.ID(), Address: strings.TrimPrefix(server.URL, "https://")}
	transport := NewTransport(&tls.Config{InsecureSkipVerify: true})
	s.client = NewClient(ctx, Options{
		Reach:   func(replicas.Member) http.RoundTripper { return transport },
		Leaving: func(m replicas.Member) { s.left <- m },
		Stale:   func(_ replicas.Member, stale bool) { s.stale <- stale },
	})
	s.shutdown = sync.OnceFunc(func() {
		server.CloseClientConnections()
		server.Close()
	})
	t.Cleanup(func() {
		cancel()
		s.client.Close()
		transport.CloseIdleConnections()
		s.shutdown()
	})
	return s
}

// Subscribe implements holder.View.
func (s *stage) Subscribe(o delivery.SubscribeOptions) holder.Subscription {
	return s.Publisher.Subscribe(o)
}

// Acquire implements holder.Views.
func (s *stage) Acquire(ctx context.Context, name graphview.Name, onlyIfHeld bool) (holder.View, func(), error) {
	if s.slow != nil {
		select {
		case <-s.slow:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	if name != web && !s.any || onlyIfHeld {
		return nil, nil, &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}
	}
	return s, func() {}, nil
}

func (s *stage) WaitSynced(ctx context.Context) error {
	if s.unsynced != nil {
		select {
		case <-s.unsynced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *stage) Status() graphview.Status { return graphview.Status{Synced: s.unsynced == nil} }

func (s *stage) set(namespace, name string) { s.setLarge(namespace, name, 0) }

// setLarge sets an object of at least so many bytes.
func (s *stage) setLarge(namespace, name string, bytes int) {
	s.graph.Update(func() {
		s.version++
		o := &object{fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":"%d"},"data":%q}`, name, s.version, strings.Repeat("x", bytes))}
		id := s.graph.Set(s.source, &graph.Object{Namespace: namespace, Name: name, UID: name, Version: s.version, Hash: s.version, Payload: o})
		s.lens.Select(id, graph.Selection{Member: true})
	})
}

func (s *stage) open(t *testing.T) *Relay {
	t.Helper()
	r, err := s.client.Open(t.Context(), s.member, web, false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// subscribe subscribes until the test ends.
func (s *stage) subscribe(t *testing.T, o delivery.SubscribeOptions) *Channel {
	t.Helper()
	c := s.open(t).Subscribe(o)
	t.Cleanup(c.Close)
	return c
}

// frames are the messages that are sent next, up to a revision. They are read as by a
// subscriber that takes turns with others, and waits after each frame that it has sent;
// followers call Next.
func frames(t testing.TB, c *Channel) (all []*delivery.Frame) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(all) == 0 || all[len(all)-1].Rev == "" {
		if err := c.Wait(ctx); err != nil {
			t.Fatalf("%v; it was sent %d frames", err, len(all))
		}
		more, err := c.Poll()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	return all
}

// next is the text of frames, and their revision.
func next(t testing.TB, c *Channel) (text, rev string) {
	t.Helper()
	for _, f := range frames(t, c) {
		text += string(f.JSON)
		rev = f.Rev
	}
	return text, rev
}

// eventually waits until check returns "".
func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, time.Minute, time.Millisecond, check)
}

func TestRelay(t *testing.T) {
	s := newStage(t)
	s.set("shop", "seen")
	s.set("bank", "hidden")
	who := newPerson("shop")
	c := s.subscribe(t, delivery.SubscribeOptions{Access: who})
	text, _ := next(t, c)
	if !strings.Contains(text, "seen") || strings.Contains(text, "hidden") || !strings.Contains(text, `"synced":true`) {
		t.Fatal(text)
	}
	s.set("shop", "another")
	text, rev := next(t, c)
	if !strings.Contains(text, "another") || strings.Contains(text, `"seen"`) {
		t.Error(text)
	}
	// With other rights, the subscriber is reset.
	other := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("bank"), Since: rev})
	if text, _ = next(t, other); !strings.Contains(text, `"reset":true`) || !strings.Contains(text, "hidden") || strings.Contains(text, "seen") {
		t.Error(text)
	}
}

// TestWindow: a subscriber that does not read is sent no more than its window, and then
// the net change.
func TestWindow(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop")})
	next(t, c)
	const bytes, changes = 8 << 10, 100
	for range changes {
		s.setLarge("shop", "b", bytes)
	}
	text, sent := "", 0
	for last := fmt.Sprintf(`"resourceVersion":"%d"`, s.version); !strings.Contains(text, last); {
		text, _ = next(t, c)
		sent += len(text)
	}
	if most := minWindow + 3*bytes; sent > most {
		t.Errorf("%d bytes of %d changes, want at most %d", sent, changes, most)
	}
}

// TestWindowWhileSent: messages that a subscriber is still being sent are a part of its window: the
// holder sends no more of its graph meanwhile.
func TestWindowWhileSent(t *testing.T) {
	s := newStage(t)
	for i := range 64 {
		s.setLarge("shop", fmt.Sprint("p", i), minWindow/8)
	}
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop")})
	var frames []*delivery.Frame
	for frames == nil {
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var err error
		if frames, err = c.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	// More for the first one would come before what others are sent later.
	other := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("bank")})
	for i := range 16 {
		s.set("bank", fmt.Sprint("b", i))
		next(t, other)
	}
	sent := 0
	for _, f := range frames {
		sent += len(f.JSON)
	}
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	if sent+c.unread > minWindow+len(frames[0].JSON) {
		t.Errorf("%d bytes were returned and %d are unread, of a window of %d", sent, c.unread, minWindow)
	}
}

// TestSlowView: a holder greets before it looks for the view. A view that takes longer
// than a greeting may does not make the holder unreachable, and has a verdict in the end.
func TestSlowView(t *testing.T) {
	s := newStage(t)
	s.slow = make(chan struct{})
	r, err := s.client.relay(relayKey{s.member, web, true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	select {
	case <-r.greeted:
	case <-time.After(time.Minute):
		t.Fatal("the holder does not greet")
	}
	if err := r.failure(); err != nil {
		t.Error(err)
	}
	close(s.slow)
	if err := r.await(t.Context()); !errors.Is(err, ErrAbsent) {
		t.Errorf("a view that is not held: %v", err)
	}
}

func TestRelayEnds(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	c := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop")})
	next(t, c)
	if _, err := s.client.Open(t.Context(), s.member, web, true); !errors.Is(err, ErrAbsent) {
		t.Errorf("a view that is not held: %v", err)
	}
	if _, err := s.client.Open(t.Context(), replicas.Member{Run: "another", Address: s.member.Address}, web, false); !errors.Is(err, ErrBroken) {
		t.Errorf("another process: %v", err)
	}
	if err := s.open(t).WaitSynced(t.Context(), nil); err != nil {
		t.Errorf("synced: %v", err)
	}
	key := graph.Key{Resource: pods, Namespace: "shop", Name: "a"}
	if found, err := s.open(t).Find(t.Context(), key, newPerson("shop")); err != nil || found == nil || !strings.Contains(string(found.Vertex), `"a"`) {
		t.Errorf("found %v %v", found, err)
	}
	if found, err := s.open(t).Find(t.Context(), key, newPerson()); err != nil || found != nil {
		t.Errorf("found what is hidden: %v %v", found, err)
	}
	// An end of the view is passed on as it is, and that of the replica is not.
	ended := s.subscribe(t, delivery.SubscribeOptions{Access: newPerson("shop")})
	next(t, ended)
	s.shutdown()
	if _, err := c.Next(t.Context()); !errors.Is(err, ErrBroken) {
		t.Errorf("the replica is gone: %v", err)
	}
}
