package health

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"graphview.dev/graphview/jsontree"
)

// TestHostileObjects: what it takes to judge an object grows with its size, whatever is
// in it, and what is said of it stays small.
func TestHostileObjects(t *testing.T) {
	list := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	huge := strings.Repeat("x", 1<<20)
	for name, object := range map[string]string{
		"100,000 conditions":        `{"status":{"conditions":` + list(`{"type":"A"}`, 100_000) + `}}`,
		"conditions with times":     `{"status":{"conditions":` + list(`{"type":"Ready","status":"False","lastTransitionTime":"2026-01-02T03:04:05Z"}`, 15_000) + `}}`,
		"100,000 containers":        `{"status":{"phase":"Running","containerStatuses":` + list(`{"ready":1}`, 100_000) + `}}`,
		"100,000 parents":           `{"status":{"parents":` + list(`{"conditions":[{}]}`, 70_000) + `}}`,
		"conditions of parents":     `{"status":{"parents":` + list(`{"conditions":`+list(`{"type":"Accepted","status":"True"}`, 500)+`}`, 100) + `}}`,
		"huge words":                `{"status":{"phase":"` + huge + `","reason":"` + huge + `","conditions":[{"type":"Ready","status":"False","reason":"` + huge + `","lastTransitionTime":"` + huge + `"}]}}`,
		"a huge annotation":         `{"metadata":{"annotations":{"` + hpaConditions + `":"` + strings.ReplaceAll(list(`{"type":"A"}`, 80_000), `"`, `\"`) + `"}}}`,
		"a deep annotation":         `{"metadata":{"annotations":{"` + hpaConditions + `":"` + strings.Repeat("[", 1<<20) + `"}}}`,
		"wrong types everywhere":    `{"metadata":[],"spec":"x","status":{"conditions":{"type":"Ready"},"phase":[],"containerStatuses":[1,null,[],"x"],"loadBalancer":[]}}`,
		"lower case is longer":      `{"status":{"phase":"ȺȺȺȺȺȺfailed","reason":"ȺȺȺȺȺȺfailed","conditions":[{"type":"ȺȺȺȺȺȺfailed","status":"True","reason":"ȺȺȺȺȺȺfailed"}]}}`,
		"numbers beyond all bounds": `{"metadata":{"generation":1e999},"spec":{"replicas":-9223372036854775808},"status":{"observedGeneration":"99999999999999999999","readyReplicas":1e30}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			var parts jsontree.Parts
			runtime.ReadMemStats(&before)
			if parts.Read([]byte(object), Shape) != nil {
				if h := Of(podKind, []byte(object)); h != (Health{State: Unknown}) {
					t.Errorf("an object that cannot be read: %+v", h)
				}
				return
			}
			runtime.ReadMemStats(&after)
			const perByte, room = 8, 1 << 20
			if made, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(object)+room); made > most {
				t.Errorf("reading %d bytes takes %d bytes of memory, want at most %d", len(object), made, most)
			}
			for _, kind := range []Kind{
				{"example.com", "Widget"}, {"", "Pod"}, {"", "Namespace"}, {"apps", "Deployment"}, {"autoscaling", "HorizontalPodAutoscaler"},
				{"gateway.networking.k8s.io", "HTTPRoute"}, {"kafka.strimzi.io", "Kafka"},
			} {
				runtime.ReadMemStats(&before)
				h := Of(kind, []byte(object))
				if read := OfParts(kind, &parts); read != h {
					t.Errorf("%v: of parts %+v, want %+v", kind, read, h)
				}
				runtime.ReadMemStats(&after)
				if made, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(object)+room); made > most {
					t.Errorf("%v: judging %d bytes takes %d bytes of memory, want at most %d", kind, len(object), made, most)
				}
				if text := fmt.Sprintf("%+v", h); len(text) > 300 {
					t.Errorf("%v: %d bytes are said of it: %.300s", kind, len(text), text)
				}
			}
		})
	}
}

// TestStatusTooLong: of an object whose lists are not read to their end nothing is
// known.
func TestStatusTooLong(t *testing.T) {
	pod := func(containers int) map[string]any {
		list := make([]any, containers)
		for i := range list {
			list[i] = map[string]any{"name": "c", "ready": true}
		}
		return map[string]any{"status": map[string]any{
			"phase": "Running", "containerStatuses": list, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		}}
	}
	limit := maxElements
	for containers, want := range map[int]Health{
		limit:     {State: OK, Ready: int64(limit), Wanted: int64(limit), Counted: true},
		limit + 1: {State: Unknown, Reason: "StatusTooLong"},
		limit * 2: {State: Unknown, Reason: "StatusTooLong"},
	} {
		check(t, fmt.Sprintf("%d containers", containers), podKind, pod(containers), want)
	}
	route := func(parents, conditions int) map[string]any {
		all := make([]any, parents)
		for i := range all {
			list := make([]any, conditions)
			for j := range list {
				list[j] = map[string]any{"type": "Accepted", "status": "True"}
			}
			all[i] = map[string]any{"conditions": list}
		}
		return map[string]any{"status": map[string]any{"parents": all}}
	}
	tooLong := Health{State: Unknown, Reason: "StatusTooLong"}
	for size, want := range map[[2]int]Health{
		{1, perElement}: {State: OK}, {1, perElement + 1}: tooLong, {1, limit + 501}: tooLong,
		{limit / 10, 10}: {State: OK}, {limit / 10, 11}: tooLong, {limit, 1}: {State: OK}, {limit + 1, 0}: tooLong,
	} {
		check(t, fmt.Sprintf("%d parents of %d conditions", size[0], size[1]), Kind{"gateway.networking.k8s.io", "HTTPRoute"}, route(size[0], size[1]), want)
	}
}

// check compares the health of an object.
func check(t *testing.T, what string, kind Kind, object map[string]any, want Health) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if h := judge(t, kind, text); h != want {
		t.Errorf("%s: %+v, want %+v", what, h, want)
	}
}
