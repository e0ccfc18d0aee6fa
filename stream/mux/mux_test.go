package mux

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

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/transport"
)

// startMux runs a mux over a recorder, in a bubble. The function it returns waits for
// its end.
func startMux(t *testing.T, served fakeGraphs, peer *peerRecorder) (p *testMux, join func()) {
	t.Helper()
	hard, kill := context.WithCancel(t.Context())
	ctx, end := context.WithCancelCause(hard)
	p = &testMux{end: end, kill: kill}
	p.Mux = New(Options{
		Socket: peer, Graphs: served, Room: &p.room, Observer: &p.observer,
		Context: ctx, Hard: hard, End: end, Why: why, Contain: func(func()) {},
		MaxChannels: 256, MaxRequest: 64 << 10,
		Timing: Timing{
			Heartbeat: 20 * time.Second, Pong: 30 * time.Second, Write: 15 * time.Minute, Idle: time.Minute, Grace: 5 * time.Second,
		},
	})
	peer.start, peer.said = time.Now(), make(chan string, 4096)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer kill()
		p.Run()
	}()
	return p, func() {
		<-ended
		if p.open != 0 || len(p.channels) != 0 || p.room.taken.Load() != 0 || p.observer.writing != 0 {
			t.Errorf("left behind: %d channels, %d with numbers, %d places, %d messages", p.open, len(p.channels), p.room.taken.Load(), p.observer.writing)
		}
		for _, view := range served {
			if n := view.open.Load(); n != 0 {
				t.Errorf("%s: %d subscriptions are open", view.name, n)
			}
		}
	}
}

// receives gives a mux a message of its client's.
func receives(t *testing.T, m *testMux, format string, args ...any) {
	t.Helper()
	if err := m.handle(fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// subscribes opens a channel to a view.
func subscribes(t *testing.T, m *testMux, id int, view *fakeView) *fakeSubscription {
	t.Helper()
	receives(t, m, `{"id":%d,"subscribe":{"namespace":%q,"name":%q}}`, id, view.name.Namespace, view.name.Name)
	return <-view.subscribed
}

func frames(name string, n int) []*delivery.Frame {
	var all []*delivery.Frame
	for i := range n {
		all = append(all, frame(fmt.Sprintf(`{%q:%d}`, name, i)))
	}
	return all
}

// TestMuxOrder: a large graph on one channel lets a small change on another
// through after the message under way, and large ones take turns.
func TestMuxOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		huge, second, small := newView("huge"), newView("second"), newView("small")
		var changes *fakeSubscription
		written := 0
		peer := &peerRecorder{splice: func(context.Context, string) error {
			if written++; written == 503 {
				changes.send(frame(`{"small":1}`))
			}
			time.Sleep(time.Second) // all channels with something to send arrive during this time
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
		m.end(transport.ErrGone)
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

// TestMuxHoldsNothing: a channel that waits for its turn has not encoded anything yet.
func TestMuxHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := newView("one"), newView("other")
		peer := &peerRecorder{splice: func(_ context.Context, text string) error {
			if strings.Contains(text, "stuck") {
				time.Sleep(10 * time.Minute)
			}
			return nil
		}}
		m, join := startMux(t, fakeGraphs{one, other}, peer)
		first, second := subscribes(t, m, 1, one), subscribes(t, m, 2, other)
		synctest.Wait()
		first.send(frame(`{"stuck":1}`))
		synctest.Wait()
		for range 20 {
			second.send(frame(`{"a":1}`))
		}
		time.Sleep(9 * time.Minute)
		// The fake holds one: the change that woke the channel.
		if n := len(second.answers); n != 19 {
			t.Errorf("%d changes were taken before their turn", 20-n)
		}
		time.Sleep(2 * time.Minute)
		if n := len(second.answers); n != 0 {
			t.Errorf("%d changes are left", n)
		}
		m.end(transport.ErrGone)
		join()
	})
}

// TestMuxLives has the times of the heartbeat, the end and what is counted.
func TestMuxLives(t *testing.T) {
	stopped := &delivery.ClosedError{Reason: reason.Stopping, Message: "stopping"}
	const goodbye = `{"error":{"code":1001,"code_string":"StatusGoingAway","reason":"Stopping","message":"stopping"}}`
	tests := map[string]struct {
		peer peerRecorder
		play func(t *testing.T, m *testMux, view *fakeView)
		want []string
	}{
		"heartbeats only in silence": {
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				time.Sleep(19 * time.Second)
				s := subscribes(t, m, 1, view)
				time.Sleep(19 * time.Second)
				s.send(frame(`{"a":1}`))
				time.Sleep(45 * time.Second)
				m.end(stopped)
			},
			want: []string{
				`19s {"id":1,"channel":1}`, `38s {"channel":1,"a":1}`, "58s ping", "1m18s ping",
				"1m23s " + goodbye, "1m23s close 1001 Stopping: stopping",
			},
		},
		"no pong": {
			peer: peerRecorder{ping: stuck},
			play: func(*testing.T, *testMux, *fakeView) {},
			want: []string{"20s ping", "50s abort"},
		},
		"ended while a pong is awaited": {
			peer: peerRecorder{ping: stuck},
			play: func(_ *testing.T, m *testMux, _ *fakeView) {
				time.Sleep(25 * time.Second)
				m.end(stopped)
			},
			want: []string{"20s ping", "25s " + goodbye, "25s close 1001 Stopping: stopping"},
		},
		"a message is as good as a pong": {
			peer: peerRecorder{ping: stuck},
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				time.Sleep(25 * time.Second)
				m.beginMessage()
				subscribes(t, m, 1, view)
				m.endMessage()
				time.Sleep(10 * time.Second)
				m.end(stopped)
			},
			want: []string{"20s ping", `25s {"id":1,"channel":1}`, "35s " + goodbye, "35s close 1001 Stopping: stopping"},
		},
		"a message in hand needs no ping": {
			peer: peerRecorder{ping: stuck},
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				time.Sleep(19 * time.Second)
				m.beginMessage()
				time.Sleep(2 * time.Second)
				subscribes(t, m, 1, view)
				m.endMessage()
				time.Sleep(30 * time.Second)
				m.end(stopped)
			},
			want: []string{`21s {"id":1,"channel":1}`, "41s ping", "51s " + goodbye, "51s close 1001 Stopping: stopping"},
		},
		"a slow peer is waited for": {
			peer: peerRecorder{splice: func(_ context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					time.Sleep(10 * time.Minute)
				}
				return nil
			}},
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				s := subscribes(t, m, 1, view)
				s.send(frame(`{"a":1}`))
				s.send(frame(`{"b":1}`))
				time.Sleep(10*time.Minute + time.Second)
				m.end(stopped)
			},
			want: []string{
				`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, `10m0s {"channel":1,"b":1}`,
				"10m1s " + goodbye, "10m1s close 1001 Stopping: stopping",
			},
		},
		"a dead peer is not": {
			peer: peerRecorder{splice: func(ctx context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					return stuck(ctx)
				}
				return nil
			}},
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).send(frame(`{"a":1}`))
			},
			want: []string{`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, "15m0s abort"},
		},
		"the goodbye is bounded": {
			peer: peerRecorder{splice: func(ctx context.Context, _ string) error { return stuck(ctx) }},
			play: func(_ *testing.T, m *testMux, _ *fakeView) { m.end(stopped) },
			want: []string{"0s " + goodbye, "5s abort"},
		},
		"a write is cut when the grace is over": {
			peer: peerRecorder{splice: func(ctx context.Context, text string) error {
				if strings.Contains(text, `"a"`) {
					return stuck(ctx)
				}
				return nil
			}},
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).send(frame(`{"a":1}`))
				time.Sleep(time.Second)
				m.end(stopped)
				time.Sleep(time.Second)
				m.kill()
			},
			want: []string{`0s {"id":1,"channel":1}`, `0s {"channel":1,"a":1}`, "2s abort"},
		},
		"the peer leaves": {
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view)
				m.end(transport.ErrGone)
			},
			want: []string{`0s {"id":1,"channel":1}`, "0s abort"},
		},
		"a view that fails": {
			play: func(t *testing.T, m *testMux, view *fakeView) {
				t.Helper()
				subscribes(t, m, 1, view).fail(errors.New("some cause"))
				synctest.Wait()
				receives(t, m, `{"id":2,"unsubscribe":{"channel":1}}`)
				m.end(stopped)
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
				view, peer := newView("web"), test.peer
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

// TestMuxUnsubscribesAreBounded: however often a peer unsubscribes from a channel that
// is writing, few of its messages are remembered.
func TestMuxUnsubscribesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := newView("web")
		peer := &peerRecorder{splice: func(_ context.Context, text string) error {
			if strings.Contains(text, `"a"`) {
				time.Sleep(time.Minute)
			}
			return nil
		}}
		m, join := startMux(t, fakeGraphs{view}, peer)
		subscribes(t, m, 1, view).send(frame(`{"a":1}`))
		synctest.Wait()
		for i := range maxUnsubscribes + 1 {
			receives(t, m, `{"id":%d,"unsubscribe":{"channel":1}}`, 2+i)
		}
		synctest.Wait()
		m.end(transport.ErrGone)
		join()
		all := strings.Join(peer.all(), "\n")
		for i := range maxUnsubscribes {
			if want := fmt.Sprintf(`{"id":%d,"channel":1}`, 2+i); strings.Count(all, want) != 1 {
				t.Errorf("%s is not there once", want)
			}
		}
		if want := fmt.Sprintf(`{"id":%d,"error":{"code":`, 2+maxUnsubscribes); !strings.Contains(all, want) || !strings.Contains(all, "channel 1 was unsubscribed from already") {
			t.Errorf("%s… is missing in\n%s", want, all)
		}
	})
}

// TestMuxIdle: a connection without a graph is closed, one with a graph is not.
func TestMuxIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := newView("web")
		peer := &peerRecorder{}
		m, join := startMux(t, fakeGraphs{view}, peer)
		time.Sleep(50 * time.Second)
		subscribes(t, m, 1, view)
		time.Sleep(time.Hour)
		receives(t, m, `{"id":2,"unsubscribe":{"channel":1}}`)
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
