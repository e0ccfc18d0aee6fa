package intake

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/patience"
)

// TestKeptReferences changes pods at random, while rules for pods come and go. Where the graph keeps references, they
// are those of the new version, and at the end the graph has those of the last version under the last rules.
func TestKeptReferences(t *testing.T) {
	pods := newCluster(t, "Pod")
	events := make(chan string)
	w, c := compare(t, podResource, pods.items(), events)
	w.evaluating.Go(func() { _ = w.Run(w.life) })
	v := w.view()
	w.take(v, c.Feed, &spec.QueryProgram{})
	w.writer.Do(func() {
		// References to kinds that a view does not use are hidden.
		for resource, kind := range map[graph.Resource]graph.Kind{
			{Version: "v1", Resource: "configmaps"}: {Kind: "ConfigMap"}, {Version: "v1", Resource: "serviceaccounts"}: {Kind: "ServiceAccount"},
			{Group: "apps", Version: "v1", Resource: "replicasets"}: {Group: "apps", Kind: "ReplicaSet"}, {Version: "v1", Resource: "nodes"}: {Kind: "Node"},
		} {
			v.lens.Use(kind, resource)
		}
	})
	for round := range 20 {
		w.declare(t, podKind, []int{0, 2, 3, 1, 4}[round%5])
		w.RulesChanged()
		for range 40 {
			pod := pods.objects[pods.random.IntN(len(pods.objects))]
			pods.change(pod)
			events <- fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, pods.text(pod))
		}
		if round%5 == 3 {
			continue // its expressions may be late
		}
		for _, pod := range pods.objects {
			v.awaitReferences(t, pod, w.o.Rules.Current().Extractor)
		}
	}
	if n := c.kept.Load(); n < 100 {
		t.Errorf("%d of 800 changes kept their references", n)
	}
}

// awaitReferences waits until the graph has the references of a pod, as an Extractor finds them.
func (v *view) awaitReferences(t *testing.T, pod map[string]any, x *refs.Extractor) {
	t.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	for _, r := range x.Extract(podKind, pod) {
		want[fmt.Sprint(r.Type, r.Name, r.Controller)] = true
	}
	defer func() {
		if t.Failed() {
			t.Logf("got %v, want %v", got, want)
		}
	}()
	name := pod["metadata"].(map[string]any)["name"].(string)
	patience.Await(t, "the references of "+name, func() bool {
		clear(got)
		at, _ := v.lens.Look(graph.Key{Resource: ResourceOf(podResource), Namespace: "shop", Name: name}, 100, graph.Reading{})
		for _, arc := range at.Out {
			got[fmt.Sprint(arc.Type, arc.To.Name, arc.Controller)] = true
		}
		return maps.Equal(got, want)
	})
}

// TestHistoryOfKeptReferences changes objects at random in two worlds; one of them reads all references. Both have
// the same history, also where another watch sets other content between two changes.
func TestHistoryOfKeptReferences(t *testing.T) {
	for _, of := range []resources.Resource{podResource, serviceResource} {
		t.Run(of.Kind, func(t *testing.T) { historyOfKept(t, of) })
	}
}

func historyOfKept(t *testing.T, of resources.Resource) {
	objects := newCluster(t, of.Kind)
	items := objects.items()
	var worlds [2]*world
	var feeds [2]*comparing
	var events [2]chan string
	var others [2]graph.SourceID
	for i := range worlds {
		events[i] = make(chan string)
		worlds[i], feeds[i] = compare(t, of, items, events[i])
		w := worlds[i]
		w.writer.Do(func() {
			feeds[i].whole = i == 1
			others[i] = w.graph.AddSource(KindOf(of), ResourceOf(of), graph.ScopeNamespaced)
			targets := w.graph.AddSource(podKind, ResourceOf(podResource), graph.ScopeNamespaced)
			for n := range 3 {
				w.graph.Set(targets, &graph.Object{Namespace: "shop", Name: fmt.Sprint("target-", n), Version: 1, Hash: 1, Labels: map[string]string{"app": fmt.Sprint("app-", n)}})
			}
		})
	}
	both := func(do func(i int, w *world)) {
		for i, w := range worlds {
			do(i, w)
		}
	}
	send := func(event string, object map[string]any) {
		text := fmt.Sprintf(`{"type":%q,"object":%s}`, event, objects.text(object))
		both(func(i int, w *world) {
			handled := feeds[i].handled.Load()
			events[i] <- text
			patience.Await(t, "the event", func() bool { return feeds[i].handled.Load() > handled })
			w.writer.Do(func() {})
			w.rereadObjects(t.Context())
		})
	}
	for step := range 600 {
		object := objects.objects[objects.random.IntN(len(objects.objects))]
		name := object["metadata"].(map[string]any)["name"].(string)
		switch objects.random.IntN(25) {
		case 0: // the object is created again
			send("DELETED", object)
			send("ADDED", object)
		case 1:
			n := objects.random.IntN(5)
			both(func(_ int, w *world) {
				w.declare(t, KindOf(of), n)
				w.rereadFeeds(t.Context())
			})
		case 2: // another watch has other content, until it ends
			objects.version++
			version := uint64(objects.version)
			both(func(i int, w *world) {
				w.writer.Do(func() {
					w.graph.Set(others[i], &graph.Object{Namespace: "shop", Name: name, UID: "other", Version: version, Hash: version})
				})
			})
			objects.report(object)
			send("MODIFIED", object)
			both(func(i int, w *world) { w.writer.Do(func() { w.graph.Remove(others[i], "shop", name) }) })
		default:
			objects.change(object)
			send("MODIFIED", object)
		}
		if step%25 != 24 {
			continue
		}
		if diff := gocmp.Diff(worlds[1].ofObjects(), worlds[0].ofObjects()); diff != "" {
			t.Fatalf("after step %d (-read +kept):\n%s", step, diff)
		}
	}
	if n := feeds[0].kept.Load(); n < 50 {
		t.Errorf("%d changes kept their references", n)
	}
}

// ofObjects returns the entries of each object, without their times.
func (w *world) ofObjects() map[string][]string {
	all := map[string][]string{}
	for e := range w.history.Forward("shop", 0) {
		slices.SortFunc(e.Arcs, func(a, b history.Arc) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		all[e.Object.Name] = append(all[e.Object.Name], fmt.Sprintf(
			"%d %s %s %+v > %+v %s %+v %d %+v", e.Op, e.Kind, e.UID, untimed(e.Before), untimed(e.After), e.Summary, e.Paths, e.More, e.Arcs))
	}
	return all
}

// untimed returns a health without its deadline, which counts from when a Feed saw the object.
func untimed(h history.Health) health.Health {
	all := h.Unpack()
	all.Overdue = 0
	return all
}
