package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/history"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/subscriber"
	"graphview.dev/test/workload"
)

// recordedViews are the views that show all objects of their resources in their namespaces.
var recordedViews = []string{"everything", "one namespace", "namespaces by selectors", "selectors without namespaces"}

// readOnce reads a subscription up to the first whole graph.
func readOnce(ctx context.Context, s *delivery.Subscription) (*subscriber.Subscriber, error) {
	defer s.Close()
	got := subscriber.New()
	for {
		frames, err := s.Next(ctx)
		if err != nil {
			return nil, err
		}
		for _, frame := range frames {
			got.Apply(frame.JSON)
			if frame.Rev != "" {
				return got, nil
			}
		}
	}
}

// moment is a time at which the graphs were as the oracle found them.
type moment struct {
	at   int64
	want map[string]oracle.Graph
}

// TestPastEqualsOracle changes two namespaces at random, and compares the graphs of the past with the graphs that
// the oracle recorded.
func TestPastEqualsOracle(t *testing.T) {
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	engine := runEngine(t, graphview.Options{History: history.NewLog(history.Options{})})
	all := workload.Views(red, blue)
	for _, name := range recordedViews {
		if err := engine.Apply(t.Context(), graphview.Name{Namespace: red, Name: name}, "uid-"+name, specOf(t, all[name])); err != nil {
			t.Fatal(err)
		}
	}
	w := workload.Workload{Client: c, Random: rand.New(rand.NewPCG(seed.Of(t), 58)), Namespaces: []string{red, blue}}
	var moments []moment
	for range 40 {
		for range 1 + w.Random.IntN(8) {
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range w.Random.IntN(4) {
			if err := w.PodStatus(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		moments = append(moments, recordMoment(t, engine, red, all))
	}
	compared := 0
	for i, m := range moments {
		for name, want := range m.want {
			v, _ := engine.View(graphview.Name{Namespace: red, Name: name})
			past, since, err := v.Past(m.at)
			if err != nil || since > m.at {
				t.Fatalf("moment %d: %v, since %d", i, err, since-m.at)
			}
			got, err := readOnce(t.Context(), v.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly, Past: past}))
			if err != nil {
				t.Fatal(err)
			}
			if d := got.Differs(want); d != "" {
				t.Errorf("%s at moment %d of %d, with %d vertices and %d arcs (-oracle +past):\n%s", name, i, len(moments), len(want.Vertices), len(want.Arcs), d)
			}
			compared += len(want.Vertices)
		}
		if t.Failed() {
			return
		}
	}
	if compared < 100 {
		t.Errorf("%d vertices compared", compared)
	}
}

// recordMoment waits until the graphs are as the oracle finds them.
func recordMoment(t *testing.T, engine *graphview.Engine, namespace string, all map[string]oracle.View) moment {
	t.Helper()
	m := moment{want: make(map[string]oracle.Graph)}
	eventually(t, 60*time.Second, func() string {
		snapshot, err := oracle.Take(cluster.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		for _, name := range recordedViews {
			v := all[name]
			v.Summaries = true
			want, err := snapshot.Build(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			m.want[name] = want
		}
		// Since the graphs follow the cluster with a delay, they are so before the moment and after it.
		if d := m.differs(t, engine, namespace); d != "" {
			return d
		}
		m.at = time.Now().UnixMicro()
		return m.differs(t, engine, namespace)
	})
	return m
}

// differs says where the graphs are not as wanted.
func (m moment) differs(t *testing.T, engine *graphview.Engine, namespace string) string {
	t.Helper()
	for _, name := range recordedViews {
		v, _ := engine.View(graphview.Name{Namespace: namespace, Name: name})
		got, err := readOnce(t.Context(), v.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly}))
		if err != nil {
			t.Fatal(err)
		}
		if d := got.Differs(m.want[name]); d != "" {
			return fmt.Sprintf("%s (-oracle +client):\n%s", name, d)
		}
	}
	return ""
}
