package delivery

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/history"
)

var podKind = graph.Kind{Kind: "Pod"}

// recordedStage is a stage with a history, which the test writes.
type recordedStage struct {
	*stage

	log        *history.Log
	foreign    map[string]bool
	namespaces graph.SourceID // 0: none
}

func newRecordedStage(tb testing.TB, whole bool) *recordedStage {
	tb.Helper()
	s := &recordedStage{stage: newStage(tb), log: history.NewLog(history.Options{}), foreign: map[string]bool{}}
	s.state.SetScope([]ScopedResource{{pods, true}}, nil, whole)
	return s
}

func key(namespace, name string) graph.Key {
	return graph.Key{Resource: pods, Namespace: namespace, Name: name}
}

// pod sets a pod with references to others, as namespace/name.
func (s *recordedStage) pod(name string, owned bool, to ...string) {
	namespace, name, _ := strings.Cut(name, "/")
	o := &graph.Object{Namespace: namespace, Name: name, Payload: &fakeObject{uid: "uid-" + name, json: fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q}}`, name)}}
	for _, other := range to {
		space, other, _ := strings.Cut(other, "/")
		r := graph.Reference{Type: graph.Direct, To: podKind, Namespace: space, Name: other, Field: "spec.name"}
		if owned {
			r = graph.Reference{Type: graph.OwnerReference, To: podKind, Namespace: space, Name: other, UID: "uid-" + other, Controller: true}
		}
		o.References = append(o.References, r)
	}
	s.graph.Update(func() { s.show(o, graph.Selection{Member: true}) })
}

var (
	fine   = history.HealthOf(health.Health{State: health.OK})
	broken = history.HealthOf(health.Health{State: health.Degraded, Reason: "Error"})
)

func (s *recordedStage) record(e history.Entry) { s.log.Append([]*history.Entry{&e}) }

// ask returns the changes as lines, the newest first.
func (s *recordedStage) ask(t *testing.T, q ChangesQuery, rights fixedRights) ([]string, *Changes, error) {
	t.Helper()
	q.Log, q.Until, q.Foreign = s.log, 1<<62, func(namespace string, _ int64) bool { return s.foreign[namespace] }
	if q.Limit == 0 {
		q.Limit = 100
	}
	answer, err := s.publisher.Changes(t.Context(), &q, fixedAccess(rights))
	if err != nil {
		return nil, answer, err
	}
	var lines []string
	for _, c := range answer.Changes {
		line := fmt.Sprint([...]string{"changed ", "added ", "removed "}[c.Op], c.Object.Namespace, "/", c.Object.Name)
		if c.Times > 1 {
			line += fmt.Sprint(" x", c.Times)
		}
		if v := c.Via; v != nil {
			line += fmt.Sprint(" via ", v.Neighbour.Name, " ", v.Depth, " ", v.Up)
		}
		lines = append(lines, line)
	}
	return lines, answer, nil
}

func rightsTo(namespaces ...string) fixedRights {
	rights := fixedRights{}
	for _, namespace := range namespaces {
		rights[access.Place{Resource: "pods", Namespace: namespace}] = true
	}
	return rights
}

// TestChanges: the changes of an object and of everything that it leads to, or led to, as far as the subscriber may
// see it now.
func TestChanges(t *testing.T) {
	s := newRecordedStage(t, true)
	s.pod("shop/config", false)
	s.pod("pay/secret", false)
	s.pod("shop/web", false, "shop/config", "pay/secret")
	s.pod("shop/replica", true, "shop/web")
	s.pod("shop/other", false)
	changed := func(name string) history.Entry {
		namespace, name, _ := strings.Cut(name, "/")
		return history.Entry{Object: key(namespace, name), Kind: "Pod", Before: fine, After: broken}
	}
	for _, name := range []string{"shop/config", "shop/other", "pay/secret", "shop/replica", "shop/web"} {
		s.record(changed(name))
	}
	gone := changed("shop/gone")
	gone.Op = history.Removed
	gone.Arcs = []history.Arc{{Type: graph.OwnerReference, To: podKind, Namespace: "shop", Name: "web", Before: graph.ArcSide{Exists: true, Named: true, Controller: true}}}
	s.record(changed("shop/gone"))
	s.record(gone)
	web := key("shop", "web")
	everywhere := fixedRights{{Resource: "pods"}: true}
	for name, test := range map[string]struct {
		query  ChangesQuery
		rights fixedRights
		want   []string
	}{
		"of an object": {ChangesQuery{Object: &web}, everywhere, []string{
			"removed shop/gone via web 1 true", "changed shop/gone via web 1 true", "changed shop/web", "changed shop/replica via web 1 true",
			"changed pay/secret via web 1 false", "changed shop/config via web 1 false",
		}},
		"of the object alone": {ChangesQuery{Object: &web, Alone: true}, everywhere, []string{"changed shop/web"}},
		"of some":             {ChangesQuery{Limit: 2}, everywhere, []string{"removed shop/gone", "changed shop/gone"}},
		"without a right to a namespace": {ChangesQuery{Object: &web}, rightsTo("shop"), []string{
			"removed shop/gone via web 1 true", "changed shop/gone via web 1 true", "changed shop/web", "changed shop/replica via web 1 true", "changed shop/config via web 1 false",
		}},
		"of the graph with rights to another namespace": {ChangesQuery{}, rightsTo("pay"), []string{"changed pay/secret"}},
		"of the graph without rights":                   {ChangesQuery{}, rightsTo(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, answer, err := s.ask(t, test.query, test.rights)
			if d := cmp.Diff(test.want, got); d != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, d)
			}
			if answer.More != (name == "of some") {
				t.Errorf("more: %v", answer.More)
			}
		})
	}
	t.Run("of objects without a right", func(t *testing.T) {
		if _, _, err := s.ask(t, ChangesQuery{Object: &web}, rightsTo("pay")); !errors.Is(err, ErrUnknownObject) {
			t.Error(err)
		}
		never := key("shop", "never")
		if _, _, err := s.ask(t, ChangesQuery{Object: &never}, everywhere); !errors.Is(err, ErrUnknownObject) {
			t.Error(err)
		}
	})
	t.Run("a namespace that may be another one", func(t *testing.T) {
		s.foreign["shop"] = true
		defer delete(s.foreign, "shop")
		if got, _, _ := s.ask(t, ChangesQuery{}, rightsTo("shop")); got != nil {
			t.Errorf("with rights to the namespace: %q", got)
		}
		if got, _, _ := s.ask(t, ChangesQuery{Limit: 2}, everywhere); !cmp.Equal([]string{"removed shop/gone", "changed shop/gone"}, got) {
			t.Errorf("with the right to all namespaces: %q", got)
		}
	})
}

// TestChangesOfSelectiveViews: the changes of an object that a view does not show are not among its changes, unless the
// view showed it when it was deleted.
func TestChangesOfSelectiveViews(t *testing.T) {
	s := newRecordedStage(t, false)
	s.pod("shop/web", false)
	for _, name := range []string{"web", "hidden", "shown"} {
		s.record(history.Entry{Object: key("shop", name), Kind: "Pod", Before: fine, After: broken})
	}
	s.record(history.Entry{Op: history.Removed, Object: key("shop", "hidden"), Kind: "Pod", Before: broken, Views: []uint32{8}})
	s.record(history.Entry{Op: history.Removed, Object: key("shop", "shown"), Kind: "Pod", Before: broken, Views: []uint32{7, 8}})
	want := []string{"removed shop/shown", "changed shop/shown", "changed shop/web"}
	if got, _, err := s.ask(t, ChangesQuery{Mark: 7}, fixedRights{{Resource: "pods"}: true}); !cmp.Equal(want, got) || err != nil {
		t.Errorf("%v %q", err, got)
	}
}

// TestChangesNameNothingHidden: an object that the view hides, or that the subscriber may not list, is neither a neighbour
// nor a controller, and nothing that it led to is part of an answer.
func TestChangesNameNothingHidden(t *testing.T) {
	s := newRecordedStage(t, false)
	s.pod("shop/web", false)
	s.pod("shop/config", false)
	web := key("shop", "web")
	s.record(history.Entry{Object: key("shop", "config"), Kind: "Pod", Before: fine, After: broken})
	arcs := []history.Arc{
		{Type: graph.OwnerReference, To: podKind, Namespace: "shop", Name: "web", Before: graph.ArcSide{Exists: true, Named: true, Controller: true}},
		{Type: graph.Direct, To: podKind, Namespace: "shop", Name: "config", Before: graph.ArcSide{Exists: true, Named: true, NamedBy: []string{"spec.name"}, Fields: []string{"spec.name"}}},
	}
	for _, namespace := range []string{"shop", "pay"} {
		s.record(history.Entry{Op: history.Removed, Object: key(namespace, "child"), Kind: "Pod", Before: fine, Arcs: arcs, Views: []uint32{8}})
	}
	if got, _, err := s.ask(t, ChangesQuery{Object: &web, Mark: 7}, rightsTo("shop")); len(got) > 0 || err != nil {
		t.Errorf("with the name of a hidden object: %q %v", got, err)
	}
	want := []string{"removed shop/child via web 1 true", "changed shop/config via child 2 false"}
	if got, _, err := s.ask(t, ChangesQuery{Object: &web, Mark: 8}, rightsTo("shop")); !cmp.Equal(want, got) || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for _, rights := range []fixedRights{rightsTo("pay"), rightsTo("pay", "shop")} {
		_, answer, err := s.ask(t, ChangesQuery{Mark: 8}, rights)
		if last := len(answer.Changes); err != nil || last == 0 || (answer.Changes[0].Controller != nil) != (len(rights) == 2) {
			t.Errorf("the controller with rights to %v: %v %+v", rights, err, answer)
		}
	}
}

// TestChangesAreBounded: an entry with many arcs counts as many changes, and an answer has no more of them than it may.
func TestChangesAreBounded(t *testing.T) {
	s := newRecordedStage(t, true)
	s.pod("shop/web", false)
	var arcs []history.Arc
	for i := range 500 {
		arcs = append(arcs, history.Arc{Type: graph.Direct, To: podKind, Namespace: "shop", Name: fmt.Sprint("p", i), After: graph.ArcSide{Exists: true, Named: true, NamedBy: []string{"spec.name"}}})
	}
	for range 10 {
		s.record(history.Entry{Object: key("shop", "web"), Kind: "Pod", Before: fine, After: fine, Arcs: arcs, Summary: "{}"})
	}
	_, answer, err := s.ask(t, ChangesQuery{Limit: 100}, rightsTo("shop"))
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, c := range answer.Changes {
		if all += len(c.Arcs); c.Summary != "" {
			t.Error("with a summary, which no answer needs")
		}
	}
	if all > 101 || !answer.More {
		t.Errorf("%d arcs in %d entries, more: %v", all, len(answer.Changes), answer.More)
	}
}

// TestChangesLeadWhereOneMaySee: a change has the references that the view shows and the subscriber may see.
func TestChangesLeadWhereOneMaySee(t *testing.T) {
	s := newRecordedStage(t, true)
	for _, name := range []string{"shop/web", "shop/near", "other/far"} {
		s.pod(name, false)
	}
	arc := func(kind, namespace, name string, side graph.ArcSide) history.Arc {
		side.Exists, side.Fields = true, []string{"spec.name"}
		return history.Arc{Type: graph.Direct, To: graph.Kind{Kind: kind}, Namespace: namespace, Name: name, After: side}
	}
	named, selected := graph.ArcSide{Named: true, NamedBy: []string{"spec.name"}}, graph.ArcSide{Selected: true}
	s.record(history.Entry{Op: history.Changed, Object: key("shop", "web"), Kind: "Pod", Before: fine, After: fine, Arcs: []history.Arc{
		arc("Pod", "shop", "near", named), arc("Pod", "other", "far", named), arc("ConfigMap", "shop", "of-no-kind", named), arc("Pod", "shop", "selected-once", selected),
	}})
	for name, test := range map[string]struct {
		rights fixedRights
		want   []string
	}{
		"one namespace":  {rightsTo("shop"), []string{"near"}},
		"two namespaces": {rightsTo("shop", "other"), []string{"near", "far"}},
	} {
		_, answer, err := s.ask(t, ChangesQuery{}, test.rights)
		if err != nil || len(answer.Changes) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, answer)
		}
		var got []string
		for _, a := range answer.Changes[0].Arcs {
			got = append(got, a.Name)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestChangesBeginWhereOnesOwnDo: a namespace that lost its history does not shorten that of a subscriber who cannot see it.
func TestChangesBeginWhereOnesOwnDo(t *testing.T) {
	s := newRecordedStage(t, true)
	s.log = history.NewLog(history.Options{Bytes: 100 << 10})
	begun := s.log.Since("")
	s.pod("shop/web", false)
	s.pod("noisy/web", false)
	s.record(history.Entry{Object: key("shop", "web"), Kind: "Pod", Before: fine, After: broken})
	for i := range 2000 {
		s.record(history.Entry{Object: key("noisy", "web"), Kind: "Pod", Before: fine, After: broken, Paths: []history.Path{{Path: fmt.Sprint(strings.Repeat("x", 100), i)}}})
	}
	if _, answer, err := s.ask(t, ChangesQuery{}, rightsTo("shop")); err != nil || answer.Since != begun {
		t.Errorf("%v: the history begins %d µs later than that of the namespace", err, answer.Since-begun)
	}
	if _, answer, err := s.ask(t, ChangesQuery{Limit: 1000}, rightsTo("shop", "noisy")); err != nil || answer.Since == begun {
		t.Errorf("%v: the history is complete although a namespace lost some", err)
	}
}

// past returns the messages with the graph as it was, to a subscriber with some rights.
func (s *recordedStage) past(t *testing.T, past *Past, rights fixedRights) (text string) {
	t.Helper()
	r := s.publisher.Subscribe(SubscribeOptions{Content: SummaryOnly, Past: past, Access: fixedAccess(rights)})
	defer r.Close()
	for done := false; !done; {
		frames, _, err := r.poll()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			text += string(f.JSON)
			done = done || f.Rev != ""
		}
	}
	return text
}

// TestPastOfWhatAViewLeavesOut: a reference to an object that the view leaves out was to something missing.
func TestPastOfWhatAViewLeavesOut(t *testing.T) {
	s := newRecordedStage(t, false)
	s.pod("shop/web", false, "shop/left-out")
	s.pod("shop/left-out", false)
	s.graph.Update(func() {
		s.lens.Select(s.graph.Set(s.source, &graph.Object{Namespace: "shop", Name: "left-out", UID: "uid-left-out", Version: 9, Hash: 9}), graph.Selection{})
	})
	s.record(history.Entry{Object: key("shop", "left-out"), Kind: "Pod", UID: "uid-left-out", Before: fine, After: broken})
	text := s.past(t, &Past{Past: s.log.Past(0), Foreign: func(string, int64) bool { return false }}, rightsTo("shop"))
	if !strings.Contains(text, `"left-out"`) || !strings.Contains(text, `"a":{"e":true`) {
		t.Error(text)
	}
}

// TestPastOfWhatAViewShowed: an object that was deleted appears in the past of the view that showed it.
func TestPastOfWhatAViewShowed(t *testing.T) {
	s := newRecordedStage(t, false)
	s.pod("shop/web", false)
	s.record(history.Entry{Op: history.Removed, Object: key("shop", "gone"), Kind: "Pod", UID: "gone", Before: fine, Summary: `{"k":"Pod","u":"gone"}`, Views: []uint32{7}})
	for mark, shown := range map[uint32]bool{0: false, 7: true, 8: false} {
		past := &Past{Past: s.log.Past(0), Mark: mark, Foreign: func(string, int64) bool { return false }}
		if text := s.past(t, past, rightsTo("shop")); strings.Contains(text, `"gone"`) != shown {
			t.Errorf("a view with the mark %d: %s", mark, text)
		}
	}
}

// TestPastOfAnotherNamespace: an object of a namespace that was deleted does not appear as that of the same name in the
// namespace of today.
func TestPastOfAnotherNamespace(t *testing.T) {
	s := newRecordedStage(t, true)
	s.pod("shop/web", false)
	s.record(history.Entry{
		Op: history.Removed, Object: key("shop", "web"), Kind: "Pod", UID: "old", Before: broken, Summary: `{"k":"Pod","u":"old"}`,
		Arcs: []history.Arc{{Type: graph.Direct, To: podKind, Namespace: "shop", Name: "theirs", Before: graph.ArcSide{Exists: true, Named: true, NamedBy: []string{"spec.name"}, Fields: []string{"spec.name"}}}},
	})
	s.record(history.Entry{Op: history.Added, Object: key("shop", "web"), Kind: "Pod", UID: "uid-web", After: fine})
	for name, test := range map[string]struct {
		rights         fixedRights
		foreign, shown bool
	}{
		"with the right to the namespace":                {rightsTo("shop"), true, false},
		"with the right to all":                          {fixedRights{{Resource: "pods"}: true}, true, true},
		"of the same namespace":                          {rightsTo("shop"), false, true},
		"of the same namespace, without the right to it": {rightsTo("other"), false, false},
	} {
		past := &Past{Past: s.log.Past(0), Foreign: func(string, int64) bool { return test.foreign }}
		text := s.past(t, past, test.rights)
		if strings.Contains(text, "theirs") != test.shown || strings.Contains(text, `"old"`) != test.shown {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestPastOfNamespaceSelectors: an arc that labels of a namespace made is in the past only if the view showed the
// Namespace then, and the subscriber may see it.
func TestPastOfNamespaceSelectors(t *testing.T) {
	s := newRecordedStage(t, false)
	s.pod("shop/web", false)
	s.record(history.Entry{
		Op: history.Removed, Object: key("shop", "policy"), Kind: "Pod", UID: "policy", Before: fine, Summary: `{"k":"Pod","u":"policy"}`, Views: []uint32{7, 8},
		Arcs: []history.Arc{{Type: graph.Direct, To: podKind, Namespace: "shop", Name: "web", Before: graph.ArcSide{Exists: true, Fields: []string{"spec.peers"}}}},
	})
	both, podsAlone := rightsTo("shop"), rightsTo("shop")
	both[access.Place{Resource: "namespaces"}] = true
	check := func(name string, mark uint32, rights fixedRights, want bool) {
		t.Helper()
		past := &Past{Past: s.log.Past(0), Mark: mark, Foreign: func(string, int64) bool { return false }}
		if text := s.past(t, past, rights); !strings.Contains(text, `"policy"`) || strings.Contains(text, "spec.peers") != want {
			t.Errorf("%s: the arc is wanted: %t, %s", name, want, text)
		}
	}
	check("a view without Namespaces", 7, both, false)
	namespaces := graph.Resource{Version: "v1", Resource: "namespaces"}
	set := func(member bool) {
		s.graph.Update(func() {
			if s.namespaces == 0 {
				s.namespaces = s.graph.AddSource(graph.NamespaceKind, namespaces, graph.ScopeCluster)
				s.lens.Watch(s.namespaces)
				s.lens.Use(graph.NamespaceKind, namespaces)
			}
			s.revision++
			o := &graph.Object{Name: "shop", UID: "uid-shop", Version: s.revision, Hash: s.revision, Payload: &fakeObject{uid: "uid-shop", json: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`}}
			s.lens.Select(s.graph.Set(s.namespaces, o), graph.Selection{Member: member})
		})
	}
	set(true)
	check("a view that shows the Namespace", 7, both, true)
	check("a subscriber without the right to Namespaces", 7, podsAlone, false)
	set(false)
	check("a view that leaves the Namespace out", 7, both, false)
	s.record(history.Entry{
		Op: history.Removed, Object: graph.Key{Resource: namespaces, Name: "shop"}, Kind: "Namespace", UID: "uid-shop", Before: fine,
		Summary: `{"k":"Namespace","u":"uid-shop"}`, Views: []uint32{7},
	})
	s.graph.Update(func() { s.graph.Remove(s.namespaces, "", "shop") })
	check("a view that showed the Namespace then", 7, both, true)
	check("a view that left it out then", 8, both, false)
}

// TestChangesFold: equal changes of an object within ten minutes are one.
func TestChangesFold(t *testing.T) {
	s := newRecordedStage(t, true)
	at := time.Unix(1_700_000_000, 0)
	s.log = history.NewLog(history.Options{Now: func() time.Time { return at }})
	s.pod("shop/web", false)
	flap := func() {
		at = at.Add(10 * time.Second)
		s.record(history.Entry{Object: key("shop", "web"), Kind: "Pod", Before: fine, After: broken})
		at = at.Add(10 * time.Second)
		s.record(history.Entry{Object: key("shop", "web"), Kind: "Pod", Before: broken, After: fine})
	}
	for range 400 {
		flap()
	}
	at = at.Add(time.Hour)
	flap()
	got, _, err := s.ask(t, ChangesQuery{}, fixedRights{{Resource: "pods"}: true})
	want := []string{"changed shop/web", "changed shop/web", "changed shop/web x400", "changed shop/web x400"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
}

// BenchmarkHistory measures questions about a graph of 100,000 pods, with 360,000 changes since an hour ago: the changes of
// one object, and the whole graph as it was beside the present one.
func BenchmarkHistory(b *testing.B) {
	s := newRecordedStage(b, true)
	const objects, changes = 100_000, 360_000
	s.graph.Update(func() {
		for i := range objects {
			o := &fakeObject{uid: fmt.Sprint("uid-", i), json: fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","uid":"uid-%d"},"spec":{"nodeName":"a"},"status":{"phase":"Running"}}`, i, i)}
			s.show(&graph.Object{
				Namespace: fmt.Sprint("shop-", i%100), Name: fmt.Sprint("p", i), Payload: o,
				References: []graph.Reference{{Type: graph.Direct, To: podKind, Namespace: fmt.Sprint("shop-", i%100), Name: fmt.Sprint("p", i/1000*1000+i%100), Field: "spec.name"}},
			}, graph.Selection{Member: true})
		}
	})
	for i := range changes {
		n := i * 7919 % objects
		s.record(history.Entry{Object: key(fmt.Sprint("shop-", n%100), fmt.Sprint("p", n)), Kind: "Pod", Before: fine, After: broken})
	}
	s.log.KeepUp()
	object := key("shop-7", "p7007")
	b.Run("changes of one object", func(b *testing.B) {
		for b.Loop() {
			q := ChangesQuery{Object: &object, Until: 1 << 62, Limit: 200, Log: s.log, Foreign: func(string, int64) bool { return false }}
			if a, err := s.publisher.Changes(b.Context(), &q, fixedAccess{{Resource: "pods"}: true}); err != nil || len(a.Changes) == 0 {
				b.Fatal(err, a)
			}
		}
		b.ReportMetric(float64(s.log.Stats().Bytes)/changes, "bytes/entry")
	})
	b.Run("changes of the graph", func(b *testing.B) {
		for b.Loop() {
			q := ChangesQuery{Until: 1 << 62, Limit: 200, Log: s.log, Foreign: func(string, int64) bool { return false }}
			if a, err := s.publisher.Changes(b.Context(), &q, fixedAccess{{Resource: "pods"}: true}); err != nil || len(a.Changes) != 200 {
				b.Fatal(err, a)
			}
		}
	})
	whole := func(b *testing.B, past func() *Past) {
		for b.Loop() {
			r := s.publisher.Subscribe(SubscribeOptions{Content: SummaryOnly, Past: past()})
			for done := false; !done; {
				frames, _, err := r.poll()
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range frames {
					done = done || f.Rev != ""
				}
			}
			r.Close()
		}
	}
	stays := s.publisher.Subscribe(SubscribeOptions{Content: SummaryOnly}) // so that summaries are kept
	defer stays.Close()
	b.Run("snapshot", func(b *testing.B) { whole(b, func() *Past { return nil }) })
	b.Run("snapshot of an hour ago", func(b *testing.B) {
		whole(b, func() *Past { return &Past{Past: s.log.Past(0), Foreign: func(string, int64) bool { return false }} })
	})
}
