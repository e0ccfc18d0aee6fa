//go:build !race

package intake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/test/configmaps"
)

// picture is a graph as a subscriber has it: the contents of vertices and the attributes of arcs, as JSON.
type picture map[string]string

// pictureOf reads the graph once, the present one if past is nil.
func pictureOf(t *testing.T, p *delivery.Publisher, past *delivery.Past) picture {
	t.Helper()
	s := p.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly, Past: past})
	defer s.Close()
	all := picture{}
	for {
		frames, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			all.apply(t, f.JSON)
			if f.Rev != "" {
				return all
			}
		}
	}
}

func (p picture) apply(t *testing.T, text []byte) {
	t.Helper()
	type named struct {
		Name string `json:"n"`
	}
	type arc struct {
		From named           `json:"s"`
		To   named           `json:"d"`
		Type string          `json:"t"`
		Rest json.RawMessage `json:"a"`
	}
	var m struct {
		Actions []struct {
			Set *struct {
				Key     named           `json:"vx"`
				Summary json.RawMessage `json:"m"`
			} `json:"svx"`
			Delete *struct {
				Key named `json:"vx"`
			} `json:"dvx"`
			SetArc    *arc `json:"sarc"`
			DeleteArc *arc `json:"darc"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	name := func(a *arc) string { return a.From.Name + " " + a.Type + "> " + a.To.Name }
	for _, a := range m.Actions {
		switch {
		case a.Set != nil:
			p[a.Set.Key.Name] = string(a.Set.Summary)
		case a.Delete != nil:
			delete(p, a.Delete.Key.Name)
		case a.SetArc != nil:
			p[name(a.SetArc)] = string(a.SetArc.Rest)
		case a.DeleteArc != nil:
			delete(p, name(a.DeleteArc))
		}
	}
}

// TestPastEqualsPresentThen changes objects with references of all sorts at random. The graph of each recorded moment
// equals the graph that was present at that moment.
func TestPastEqualsPresentThen(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := start(t, configmaps.Serve(t, 1))
			v, tap := w.follow(yes)
			tap.feed.awaitList(t)
			state := delivery.NewViewState()
			state.To(delivery.State{Phase: delivery.Serving})
			state.SetScope([]delivery.ScopedResource{{Resource: ResourceOf(configmaps.Resource), Namespaced: true}}, nil, true)
			publisher := delivery.NewPublisher(delivery.PublisherOptions{
				Name: "shop/web", UID: "uid", Run: delivery.NewRun(), Shared: &delivery.Shared{}, Warnings: delivery.NewWarnings(func() {}), Logger: logr.Discard(),
				State: state, Notify: func() {}, Hold: func(budget.Use, int64) error { return nil },
			})
			publisher.SetLens(v.lens)
			random := rand.New(rand.NewPCG(58, seed))
			type moment struct {
				at   int64
				want picture
			}
			var moments []moment
			for step := range 250 {
				w.writer.Do(randomEvent(random, w, tap, step, 7+int(seed%3)*12))
				if random.IntN(6) == 0 {
					moments = append(moments, moment{time.Now().UnixMicro(), pictureOf(t, publisher, nil)})
				}
			}
			for i, m := range moments {
				got := pictureOf(t, publisher, &delivery.Past{Past: w.history.Past(m.at), Foreign: func(string, int64) bool { return false }})
				if d := cmp.Diff(m.want, got); d != "" {
					t.Fatalf("moment %d of %d, with %d elements (-then +past):\n%s", i, len(moments), len(m.want), d)
				}
			}
		})
	}
}

// randomEvent returns an event about one of some objects. With many, most stay as they are for long.
func randomEvent(random *rand.Rand, w *world, tap *Tap, step, objects int) func() {
	name := func() string { return fmt.Sprint("o", random.IntN(objects)) }
	object := tap.feed.retained(w.t)[0]
	if random.IntN(4) == 0 {
		return (&deleteEvent{feed: tap.feed, namespace: "shop", name: name(), uid: "u", summary: tap.feed.summaryOf(object)}).Apply
	}
	version := uint64(1000 + step)
	o := graph.Object{Namespace: "shop", Name: name(), Version: version, Hash: version, Labels: map[string]string{"tier": fmt.Sprint(random.IntN(2))}, Payload: object}
	o.UID = "uid-" + o.Name
	for range random.IntN(4) {
		r := graph.Reference{Type: graph.Direct, To: KindOf(configmaps.Resource), Namespace: "shop", Field: fmt.Sprint("spec.field", random.IntN(3))}
		switch random.IntN(5) {
		case 0:
			r.Selector = &graph.Selector{Requirements: []graph.Requirement{{Key: "tier", Values: []string{fmt.Sprint(random.IntN(2))}}}}
		case 1:
			r.Name, r.Inferred, r.Field = name(), true, graph.InferredField+r.Field
		case 2:
			r.Name, r.Type, r.Field, r.Controller = name(), graph.OwnerReference, "", random.IntN(2) == 0
			r.UID = "uid-" + r.Name
		default:
			r.Name, r.Optional = name(), random.IntN(2) == 0
		}
		o.References = append(o.References, r)
	}
	ev := &setEvent{feed: tap.feed, object: o, verdicts: []tapVerdict{{tap, Verdict{Selection: graph.Selection{Member: true}}}}}
	ev.declareHealth(health.Health{State: health.States[random.IntN(len(health.States))], Reason: fmt.Sprint("Reason", random.IntN(3)), Since: int64(step), Ready: int64(random.IntN(3)), Wanted: 2, Counted: random.IntN(2) == 0})
	return ev.Apply
}
