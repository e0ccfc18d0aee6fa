package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// spliceRecorder is a recorder for a mux, of which a ping that nobody waits for
// any more may still be under way.
type spliceRecorder struct {
	recorder
	said   chan string
	splice func(ctx context.Context, text string) error
}

func (r *spliceRecorder) say(format string, args ...any) {
	r.said <- fmt.Sprintf("%v %s", time.Since(r.start), fmt.Sprintf(format, args...))
}

func (r *spliceRecorder) WriteSpliced(ctx context.Context, more string, text []byte) error {
	whole := "{" + more + string(text[1:])
	r.say("%s", whole)
	if r.splice != nil {
		return r.splice(ctx, whole)
	}
	return nil
}

func (r *spliceRecorder) Ping(ctx context.Context) error {
	r.say("ping")
	if r.ping != nil {
		return r.ping(ctx)
	}
	return nil
}

func (r *spliceRecorder) Close(code reason.Code, reason string) {
	r.say("close %d %s", code, reason)
}
func (r *spliceRecorder) Abort() { r.say("abort") }

// all is what was said. Nobody says anything any more.
func (r *spliceRecorder) all() []string {
	close(r.said)
	var all []string
	for one := range r.said {
		all = append(all, one)
	}
	return all
}

// startMux runs a mux of reader over a recorder, in a bubble. The function it
// returns waits for its end.
func startMux(t *testing.T, served fakeGraphs, peer *spliceRecorder) (m *mux, join func()) {
	t.Helper()
	registry := prometheus.NewRegistry()
	o, err := Options{Config: &rest.Config{}, Graphs: served, GetCertificate: testCertificate}.complete()
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	a := testAccess()
	s := &Server{
		options: o, access: a, registry: newRegistry(o.MaxOpen), adHoc: budget.NewShares[string](adHocViews), timing: defaultTiming(), metrics: metrics,
		unsent:      newUnsent(unsentBytes.Limit()),
		permissions: newPermissions(a.review, o.PermissionRecheck, metrics),
	}
	one, err := s.registry.reserveMux(t.Context(), &user.DefaultInfo{Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	peer.start, peer.said = time.Now(), make(chan string, 4096)
	m = s.newMux(&user.DefaultInfo{Name: "reader"}, peer, one)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer one.release()
		m.run()
	}()
	return m, func() {
		<-ended
		if n := metric(t, registry, "graphview_subscribers", muxTransport); n != 0 || m.begun != 0 || len(m.channels) != 0 || s.registry.sending != 0 {
			t.Errorf("left behind: %v subscribers, %d channels, %d with numbers, %d places", n, m.begun, len(m.channels), s.registry.sending)
		}
	}
}

// metric is the value of one that has one label.
func metric(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			if family.GetName() == name && one.GetLabel()[0].GetValue() == label {
				return one.GetCounter().GetValue() + one.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s %s", name, label)
	return 0
}

// hears gives a mux a message of its client's.
func hears(t *testing.T, m *mux, format string, args ...any) {
	t.Helper()
	if err := m.handle(fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// subscribes opens a channel to a view.
func subscribes(t *testing.T, m *mux, id int, view *fakeView) *fakeSubscription {
	t.Helper()
	hears(t, m, `{"id":%d,"subscribe":{"namespace":%q,"name":%q}}`, id, view.name.Namespace, view.name.Name)
	return <-view.subscribed
}

func frames(name string, n int) []*delivery.Frame {
	var all []*delivery.Frame
	for i := range n {
		all = append(all, message1(fmt.Sprintf(`{"%s":%d}`, name, i)))
	}
	return all
}

// TestMuxOrder: a large graph on one channel lets a small change on another
// through after the message under way, and large ones take turns.
func TestMuxOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		huge, second, small := newView("shop/huge"), newView("shop/second"), newView("shop/small")
		var changes *fakeSubscription
		written := 0
		peer := &spliceRecorder{splice: func(context.Context, string) error {
			if written++; written == 503 {
				changes.send(message1(`{"small":1}`))
			}
			time.Sleep(time.Second) // everybody who has something to send comes meanwhile
			return nil
		}}
		m, join := startMux(t, fakeGraphs{huge, second, small}, peer)
		changes = subscribes(t, m, 1, small)
		first := subscribes(t, m, 2, huge)
		other := subscribes(t, m, 3, second)
		first.send(frames("huge", 1000)...)
		synctest.Wait()
		time.Sleep(time.Second * 400)
		other.send(frames("second", 50)...)
		time.Sleep(2000 * time.Second)
		m.stream.end(transport.ErrGone)
		join()

		var order []string
		for _, said := range peer.all() {
			if _, text, _ := strings.Cut(said, " "); !strings.HasPrefix(text, `{"id"`) && text != "ping" && text != "abort" {
				order = append(order, text[1:strings.LastIndex(text, ":")])
			}
		}
		counts := map[string]int{}
		for _, one := range order {
			counts[one]++
		}
		if diff := cmp.Diff(map[string]int{`"channel":1,"small"`: 1, `"channel":2,"huge"`: 1000, `"channel":3,"second"`: 50}, counts); diff != "" {
			t.Fatalf("messages (-want +got):\n%s", diff)
		}
		// Three of the messages written before the 503rd were answers.
		if at := slices.Index(order, `"channel":1,"small"`); at != 500 {
			t.Errorf("the small change came after %d messages, and was there at 500", at)
		}
		start := slices.Index(order, `"channel":3,"second"`)
		for i, one := range order[start : start+100] {
			if want := []string{`"channel":3,"second"`, `"channel":2,"huge"`}[i%2]; one != want {
				t.Fatalf("message %d of the two together is %s", i, one)
			}
		}
	})
}

// TestMuxHoldsNothing: who waits for a turn has not made anything yet.
func TestMuxHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := newView("shop/one"), newView("shop/other")
		peer := &spliceRecorder{splice: func(_ context.Context, text string) error {
			if strings.Contains(text, "stuck") {
				time.Sleep(10 * time.Minute)
			}
			return nil
		}}
		m, join := startMux(t, fakeGraphs{one, other}, peer)
		first, second := subscribes(t, m, 1, one), subscribes(t, m, 2, other)
		synctest.Wait()
		first.send(message1(`{"stuck":1}`))
		synctest.Wait()
		for range 20 {
			second.send(message1(`{"a":1}`))
		}
		time.Sleep(9 * time.Minute)
		// The one that woke it is what a fake cannot but hold.
		if n := len(second.answers); n != 19 {
			t.Errorf("%d changes were taken before their turn", 20-n)
		}
		time.Sleep(2 * time.Minute)
		if n := len(second.answers); n != 0 {
			t.Errorf("%d changes are left", n)
		}
		m.stream.end(transport.ErrGone)
		join()
	})
}

// TestMuxLives has the times of the heartbeat, the end and what is counted.
func TestMuxLives(t *testing.T) {
	stopped := &delivery.ClosedError{Reason: reason.Stopping, Message: "stopping"}
	const goodbye = `{"error":{"code":1001,"code_string":"StatusGoingAway","reason":"Stopping","message":"stopping"}}`
	tests := map[string]struct {
		peer spliceRecorder
		play func(t *testing.T, m *mux, view *fakeView)
		want []string
	}{
		"heartbeats only in silence": {
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				time.Sleep(19 * time.Second)
				s := subscribes(t, m, 1, view)
				time.Sleep(19 * time.Second)
				s.send(message1(`{"a":1}`))
				time.Sleep(45 * time.Second)
				m.stream.end(stopped)
			},
			want: []string{
				`19s {"id":1,"channel":1}`, `38s {"channel":1,"a":1}`, "58s ping", "1m18s ping",
				"1m23s " + goodbye, "1m23s close 1001 Stopping: stopping",
			},
		},
		"no pong": {
			peer: spliceRecorder{recorder: recorder{ping: stuck}},
			play: func(*testing.T, *mux, *fakeView) {},
			want: []string{"20s ping", "50s abort"},
		},
		"ended while a pong is awaited": {
			peer: spliceRecorder{recorder: recorder{ping: stuck}},
			play: func(_ *testing.T, m *mux, _ *fakeView) {
				time.Sleep(25 * time.Second)
				m.stream.end(stopped)
			},
			want: []string{"20s ping", "25s " + goodbye, "25s close 1001 Stopping: stopping"},
		},
		"a message is as good as a pong": {
			peer: spliceRecorder{recorder: recorder{ping: stuck}},
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				time.Sleep(25 * time.Second)
				m.hear(true)
				subscribes(t, m, 1, view)
				m.hear(false)
				time.Sleep(10 * time.Second)
				m.stream.end(stopped)
			},
			want: []string{"20s ping", `25s {"id":1,"channel":1}`, "35s " + goodbye, "35s close 1001 Stopping: stopping"},
		},
		"a message in hand needs no ping": {
			peer: spliceRecorder{recorder: recorder{ping: stuck}},
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				time.Sleep(19 * time.Second)
				m.hear(true)
				time.Sleep(2 * time.Second)
				subscribes(t, m, 1, view)
				m.hear(false)
				time.Sleep(30 * time.Second)
				m.stream.end(stopped)
			},
			want: []string{`21s {"id":1,"channel":1}`, "41s ping", "51s " + goodbye, "51s close 1001 Stopping: stopping"},
		},
		"a slow peer is waited for": {
			peer: spliceRecorder{splice: func(_ context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					time.Sleep(10 * time.Minute)
				}
				return nil
			}},
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				s := subscribes(t, m, 1, view)
				s.send(message1(`{"a":1}`))
				s.send(message1(`{"b":1}`))
				time.Sleep(10*time.Minute + time.Second)
				m.stream.end(stopped)
			},
			want: []string{
				`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, `10m0s {"channel":1,"b":1}`,
				"10m1s " + goodbye, "10m1s close 1001 Stopping: stopping",
			},
		},
		"a dead peer is not": {
			peer: spliceRecorder{splice: func(ctx context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					return stuck(ctx)
				}
				return nil
			}},
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).send(message1(`{"a":1}`))
			},
			want: []string{`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, "15m0s abort"},
		},
		"the goodbye is bounded": {
			peer: spliceRecorder{splice: func(ctx context.Context, _ string) error { return stuck(ctx) }},
			play: func(_ *testing.T, m *mux, _ *fakeView) { m.stream.end(stopped) },
			want: []string{"0s " + goodbye, "5s abort"},
		},
		"a write is cut when the grace is over": {
			peer: spliceRecorder{splice: func(ctx context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					return stuck(ctx)
				}
				return nil
			}},
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).send(message1(`{"a":1}`))
				time.Sleep(time.Second)
				m.stream.end(stopped)
				time.Sleep(time.Second)
				m.stream.kill()
			},
			want: []string{`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, "2s abort"},
		},
		"the peer leaves": {
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view)
				m.stream.end(transport.ErrGone)
			},
			want: []string{`0s {"id":1,"channel":1}`, "0s abort"},
		},
		"a view that fails": {
			play: func(t *testing.T, m *mux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).fail(errors.New("some cause"))
				synctest.Wait()
				hears(t, m, `{"id":2,"unsubscribe":{"channel":1}}`)
				m.stream.end(stopped)
			},
			want: []string{
				`0s {"id":1,"channel":1}`, `0s {"channel":1,"error":{"code":1011,"code_string":"StatusInternalError","reason":"Internal","message":"internal error"}}`,
				`0s {"id":2,"channel":1}`, "0s " + goodbye, "0s close 1001 Stopping: stopping",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				view, peer := newView("shop/web"), test.peer
				m, join := startMux(t, fakeGraphs{view}, &peer)
				test.play(t, m, view)
				join()
				if diff := cmp.Diff(test.want, peer.all()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// TestMuxIdle: a connection without a graph is closed, one with a graph is not.
func TestMuxIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := newView("shop/web")
		peer := &spliceRecorder{}
		m, join := startMux(t, fakeGraphs{view}, peer)
		time.Sleep(50 * time.Second)
		subscribes(t, m, 1, view)
		time.Sleep(time.Hour)
		hears(t, m, `{"id":2,"unsubscribe":{"channel":1}}`)
		start := time.Now()
		join()
		if after := time.Since(start); after < time.Minute || after > 80*time.Second {
			t.Errorf("closed after %v without a graph", after)
		}
		all := peer.all()
		if want := "close 1001 "; !strings.Contains(all[len(all)-1], want) {
			t.Errorf("the end: %s", all[len(all)-1])
		}
	})
}
