package intake

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// entries returns the entries of a namespace as lines.
func (w *world) entries(namespace string) (lines []string) {
	for e := range w.history.Forward(namespace, 0) {
		line := fmt.Sprint([...]string{"changed", "added", "removed"}[e.Op], " ", e.Kind, " ", e.Object.Name)
		for _, p := range e.Paths {
			line += fmt.Sprint(" ", [...]string{"~", "+", "-"}[p.Op], p.Path, p.Before, p.After)
		}
		for i := range e.Arcs {
			a := &e.Arcs[i]
			line += fmt.Sprint(" ", a.Name, " ", a.Before.Exists, ">", a.After.Exists)
			if a.Implied {
				line += " implied"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// TestPanicOfSummary: an object whose summary panics has none, and the watch goes on.
func TestPanicOfSummary(t *testing.T) {
	f := &Feed{intake: &Intake{o: Options{Processors: quota.NewProcessors(logr.Discard())}}}
	var broken struct{ delivery.Object }
	if summary := f.summaryOf(broken); summary != "" || f.intake.o.Processors.Panics() != 1 {
		t.Errorf("a summary %q and %d panics", summary, f.intake.o.Processors.Panics())
	}
}

// TestPanicOfObservation: an object whose comparison panics is observed without it, and the watch goes on.
func TestPanicOfObservation(t *testing.T) {
	f := &Feed{intake: &Intake{o: Options{Processors: quota.NewProcessors(logr.Discard()), History: history.NewLog(history.Options{})}}}
	f.observe(&watch.Decoded{Object: &watch.Object{}}, &observation{})
	if got := f.intake.o.Processors.Panics(); got != 1 {
		t.Errorf("%d panics", got)
	}
}

// TestHistory: the history has the changes after the first list, and no entry of the listed objects.
func TestHistory(t *testing.T) {
	changed := make(chan string)
	w := start(t, configmaps.ServeChanges(t, 2, changed))
	v, tap := w.follow(yes)
	tap.feed.awaitList(t)
	if got := w.entries("shop"); got != nil || tap.feed.Begun() == 0 || !tap.feed.Feeds(v.Evaluator) {
		t.Errorf("after the list: %q, begun %d", got, tap.feed.Begun())
	}
	changed <- "c0"
	changed <- "c9"
	changed <- "c9"
	patience.Await(t, "three changes", func() bool { return len(w.entries("shop")) == 3 })
	// The two changes of c9 differ in a value alone, which is not kept.
	want := []string{"changed ConfigMap c0 +data", "added ConfigMap c9", "changed ConfigMap c9 ~data.at"}
	if d := cmp.Diff(want, w.entries("shop")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	w.writer.Do((&deleteEvent{feed: tap.feed, namespace: "shop", name: "c0", summary: `{"k":"ConfigMap"}`}).Apply)
	patience.Await(t, "the removal", func() bool { return len(w.entries("shop")) == 4 })
	if got := w.entries("shop")[3]; got != "removed ConfigMap c0" {
		t.Error(got)
	}
	w.writer.Do(func() { w.graph.RemoveSource(tap.feed.source) })
	w.writer.Do(func() {})
	if got := w.entries("shop"); len(got) != 4 {
		t.Errorf("the end of a watch is no change: %q", got)
	}
}

// TestHistoryOfArcs: the entries of an object have its references, those of an object that is removed all of them,
// and the arcs to an object that appears or disappears are implied.
func TestHistoryOfArcs(t *testing.T) {
	w := start(t, configmaps.Serve(t, 1))
	_, tap := w.follow(yes)
	tap.feed.awaitList(t)
	object := tap.feed.retained(t)[0]
	version := uint64(100)
	set := func(name string, labels map[string]string, to ...graph.Reference) {
		version++
		w.writer.Do((&setEvent{feed: tap.feed, object: graph.Object{
			Namespace: "shop", Name: name, UID: "uid-" + name, Version: version, Hash: version, Labels: labels, References: to, Payload: object,
		}}).Apply)
	}
	remove := func(name string) {
		w.writer.Do((&deleteEvent{feed: tap.feed, namespace: "shop", name: name}).Apply)
	}
	named := func(name string) graph.Reference {
		return graph.Reference{Type: graph.Direct, To: KindOf(configmaps.Resource), Namespace: "shop", Name: name, Field: "spec.name"}
	}
	front := graph.Reference{Type: graph.Direct, To: KindOf(configmaps.Resource), Namespace: "shop", Field: "spec.selector", Selector: &graph.Selector{
		Requirements: []graph.Requirement{{Key: "tier", Values: []string{"front"}}},
	}}
	set("service", nil, front, named("a"))
	set("a", map[string]string{"tier": "front"})
	set("service", nil, front, named("b"))
	set("a", map[string]string{"tier": "back"})
	set("a", map[string]string{"tier": "front"})
	remove("a")
	remove("service")
	want := []string{
		"added ConfigMap service",
		"added ConfigMap a", "changed ConfigMap service a true>true implied",
		"changed ConfigMap service b false>true a true>true",
		"changed ConfigMap service a true>false",
		"changed ConfigMap service a false>true",
		"removed ConfigMap a", "changed ConfigMap service a true>false implied",
		"removed ConfigMap service b true>false",
	}
	var got []string
	got = append(got, w.entries("shop")...)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for e := range w.history.Forward("shop", 0) {
		if e.Op == history.Removed && e.Object.Name == "service" && e.UID != "" {
			t.Errorf("%+v", e)
		}
	}
}

// TestHistoryOfNamespaces: after a Namespace is deleted, the tenants of a new one do not see its past, although another watch is
// interrupted and still has objects of it.
func TestHistoryOfNamespaces(t *testing.T) {
	w := start(t, configmaps.Serve(t, 2))
	_, tap := w.follow(yes)
	tap.feed.awaitList(t)
	object := tap.feed.retained(t)[0]
	w.writer.Do(func() {})
	then := time.Now().UnixMicro()
	if w.history.Foreign("shop", then) {
		t.Fatal("the namespace has objects")
	}
	namespaces := &Feed{intake: w.Intake, watch: tap.feed.watch, resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}, faults: map[objectName]string{}}
	w.writer.Do((&setEvent{feed: namespaces, object: graph.Object{Name: "shop", UID: "uid-shop", Version: 1, Hash: 1, Payload: object}}).Apply)
	if w.history.Foreign("shop", then) {
		t.Error("the Namespace is there")
	}
	w.writer.Do((&deleteEvent{feed: namespaces, name: "shop"}).Apply)
	if !w.history.Foreign("shop", then) {
		t.Error("the Namespace was deleted")
	}
}
