package intake

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/writer"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// claim returns a ConfigMap that claims all with a label, as an application of kapp does.
func claim(namespace, name, value, version string) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":%q,"name":%q,"uid":"u-%s","resourceVersion":%q,"labels":{"kapp.k14s.io/is-app":""}},`+
		`"data":{"spec":"{\"labelKey\":\"%s\",\"labelValue\":\"%s\",\"usedGKs\":[{\"Group\":\"\",\"Kind\":\"ConfigMap\"}]}"}}`, namespace, name, name, version, namespace, value)
}

// claimed returns a ConfigMap that claims with a value find.
func claimed(namespace, name, value string, version int) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":%q,"name":%q,"uid":"u-%s","resourceVersion":"%d","labels":{%q:%q}}}`, namespace, name, name, version, namespace, value)
}

// TestNamespacesTakeTurns: while very many references of the objects of a namespace wait, a change of another
// namespace's object is applied before them, and a change with very many references after at most two of
// theirs. An object that changes again and again while it waits is read once.
func TestNamespacesTakeTurns(t *testing.T) {
	const objects, claims, rounds = 600, 60, 5
	var items []string
	for _, namespace := range []string{"attack", "quiet"} {
		for i := range objects {
			items = append(items, claimed(namespace, fmt.Sprint("o", i), "yes", len(items)+1))
		}
	}
	for i := range claims {
		items = append(items, claim("attack", fmt.Sprint("h", i), "no", fmt.Sprint(len(items)+1)))
	}
	items = append(items, claim("quiet", "h", "no", fmt.Sprint(len(items)+1)))
	events := make(chan string)
	w := start(t, serveEvents(t, "ConfigMap", items, events))
	version := len(items)
	change := func(object string) {
		version++
		events <- fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, strings.Replace(object, "VERSION", strconv.Itoa(version), 1))
	}
	v, tap := w.follow(yes)
	f := tap.feed
	f.awaitList(t)
	w.evaluating.Go(func() { _ = w.Run(w.life) })
	if counts := v.lens.Counts(); counts.Vertices != len(items) || counts.Arcs != 0 {
		t.Fatalf("%d objects and %d references at first, want %d and none", counts.Vertices, counts.Arcs, len(items))
	}
	// waiting counts the claims of the attack that are as they were. Only the writer calls it.
	waiting := func() (n int) {
		for i := range claims {
			if w.graph.Awaits(w.graph.Find(f.source, "attack", fmt.Sprint("h", i))) {
				n++
			}
		}
		return n
	}
	// With the writer at a stop, all changes arrive one after the other: claims, and the changes of the other namespace last.
	stopped, goOn := make(chan struct{}), make(chan struct{})
	w.writer.Send(writer.Func(func() { close(stopped); <-goOn }))
	<-stopped // the writer has none of the changes
	sets := w.Counts.Sets.Load()
	for round := range rounds {
		for i := range claims {
			change(claim("attack", fmt.Sprint("h", i), []string{"yes", "no"}[round%2], "VERSION"))
		}
	}
	change(claim("quiet", "h", "yes", "VERSION"))
	change(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"quiet","name":"o0","uid":"u-o0","resourceVersion":"VERSION","labels":{"quiet":"yes"}},"data":{"changed":"yes"}}`)
	patience.Await(t, "all changes", func() bool { return w.writer.Queued() >= rounds*claims+2 })
	done := make(chan int, 2)
	w.writer.Send(writer.Func(func() {
		done <- claims - waiting()
		w.revised.Store(new(func() {
			if !w.graph.Awaits(w.graph.Find(f.source, "quiet", "h")) {
				done <- claims - waiting()
				w.revised.Store(nil)
			}
		}))
	}))
	close(goOn)
	if n := <-done; n > 1 {
		t.Errorf("a change was applied after the references of %d objects of another namespace, want at most 1", n)
	}
	if n := <-done; n > 3 {
		t.Errorf("an object got its references after those of %d objects of another namespace, want at most 3", n)
	}
	patience.Await(t, "all references", func() bool { return v.lens.Counts().Arcs == (claims+1)*objects })
	if more := w.Counts.Sets.Load() - sets - (rounds*claims + 2); more > claims+10 {
		t.Errorf("%d claims that changed %d times each were read %d times, want some %d", claims, rounds, more, claims+1)
	}
	var left int
	w.writer.Do(func() { left = waiting() })
	if at, ok := v.lens.Look(graph.Key{Resource: ResourceOf(configmaps.Resource), Namespace: "attack", Name: "h0"}, 1, graph.Reading{}); !ok || left > 0 || len(at.Out) == 0 {
		t.Errorf("%d claims still wait, and the first has %d references", left, len(at.Out))
	}
}
