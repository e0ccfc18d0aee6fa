package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/refs"
	"graphview.dev/test/must"
)

// changedPods is the number of pods that each step of row 14 reads.
const changedPods = 20_000

// healthCost measures row 14: the part of health in the processor time of a changed pod.
func healthCost(ctx context.Context, b *bench) (lines []line) {
	r := b.newReplay(ctx)
	defer r.close()
	each := func(s sample) float64 { return s.EventProcessor / float64(s.Events) }
	changed := each(b.burst(ctx, r, "engine"))
	withHealth := each(b.child(ctx, task{Name: "judged", Processors: 1}))
	without := each(b.child(ctx, task{Name: "referred", Processors: 1}))
	microseconds := func(v float64) string { return fmt.Sprintf("%.1f µs", 1e6*v) }
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	return []line{
		{row: 14, what: "processor time of a changed pod, from the watch to a subscriber in the same process, GOMAXPROCS=1", ours: single(changed), format: microseconds},
		{row: 14, what: "… of that, to read the pod, find its references and judge its health", ours: single(withHealth), peer: single(without), peerName: "without its health", format: microseconds},
		{row: 14, what: "… so the part of health in a changed pod", ours: single((withHealth - without) / changed), format: percent},
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

// runStep takes one step with the pods of the load, again and again.
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

// watched returns a pod without managedFields, as a watch of the operator hands it on.
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
