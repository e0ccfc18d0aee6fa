package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/refs"
	"graphview.dev/test/must"
)

// changedPods are how many pods each step of row 14 is given.
const changedPods = 20_000

// healthCost measures row 14: what part of the processor time of a changed pod its
// health and its summary take.
func healthCost(ctx context.Context, b *bench) (lines []line) {
	r := b.newReplay(ctx)
	defer r.close()
	took := map[string]float64{} // for each pod
	for _, name := range []string{"engine", "summaries"} {
		s := b.burst(ctx, r, name)
		took[name] = s.EventProcessor / float64(s.Events)
	}
	for _, name := range []string{"referred", "judged"} {
		s := b.child(ctx, task{Name: name, Processors: 1})
		took[name] = s.EventProcessor / float64(s.Events)
	}
	microseconds := func(v float64) string { return fmt.Sprintf("%.1f µs", 1e6*v) }
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	line14 := func(what string, ours, peer spread, peerName string, format func(float64) string) line {
		return line{row: 14, what: what, ours: ours, peer: peer, peerName: peerName, format: format}
	}
	whole, ofHealth := took["engine"], took["judged"]-took["referred"]
	return []line{
		line14("processor time of a changed pod, from the watch to a subscriber in the same process, GOMAXPROCS=1", single(whole), nil, "", microseconds),
		line14("… of that, to read the pod, find its references and judge its health", single(took["judged"]), single(took["referred"]), "without its health", microseconds),
		line14("… so the part that health takes of a changed pod", single(ofHealth/whole), nil, "", percent),
		line14("processor time of a changed pod with one more subscriber, who gets summaries", single(took["summaries"]), single(whole), "without that subscriber", microseconds),
		line14("… so the part that summaries take", single(1-whole/took["summaries"]), nil, "", percent),
	}
}

// referred finds the references of a pod.
func referred(pod []byte) { examined(must.Get(jsontree.Part(pod, referencesShape))) }

// judged finds the references of a pod and judges its health, as the operator does before
// the pod comes into the graph.
func judged(pod []byte) {
	examined(must.Get(judgedParts.PartAndRead(pod, referencesShape, health.Shape)))
	if h := health.OfParts(health.Kind(podKind), &judgedParts).At(time.Now()); h.State == "" {
		must.Do(errors.New("a pod has no health"))
	}
}

var (
	podKind         = graph.Kind{Kind: "Pod"}
	extractor       = refs.Builtin()
	referencesShape = extractor.Shape(podKind)
	judgedParts     jsontree.Parts
)

func examined(part map[string]any) { must.Get(extractor.Examine(podKind, part)) }

// runStep is a process that does one step with the pods of the load, again and again.
func runStep(ctx context.Context, c *child, step func(pod []byte)) {
	known := record(ctx, c.config)
	texts := make([][]byte, len(known))
	for i := range known {
		texts[i] = watched(&known[i])
		step(texts[i]) // to warm up
	}
	c.Events, c.EventProcessor = changedPods, spent(os.Getpid(), func() {
		for i := range changedPods {
			step(texts[i%len(texts)])
		}
	})
}

// watched is a pod as a watch of the operator hands it on: without managedFields.
func watched(r *recorded) []byte {
	var event struct {
		Object map[string]any `json:"object"`
	}
	must.Do(json.Unmarshal(r.appendEvent(nil, 1, 1), &event))
	if metadata, ok := event.Object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	return must.Get(json.Marshal(event.Object))
}

// readSummaries has one more subscriber of a view in the same process, who gets
// summaries. It returns when that one has the graph; end ends it.
func (c *child) readSummaries(ctx context.Context, served *graphview.View) (end func() error) {
	subscription := served.Subscribe(delivery.SubscribeOptions{Content: delivery.SummaryOnly})
	must.Do(c.read(ctx, subscription, func(frame *delivery.Frame) bool { return frame.Synced }))
	stop := must.Background(ctx, func(ctx context.Context) error {
		return c.read(ctx, subscription, func(*delivery.Frame) bool { return false })
	})
	return func() error {
		err := stop()
		subscription.Close()
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			return nil
		}
		return err
	}
}
