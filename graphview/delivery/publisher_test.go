package delivery

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

// TestSummaries: a summary is sent when it has changed, also to subscribers that reconnect or
// are behind. A name is sent once.
func TestSummaries(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a", "b")
	r, names := s.reader(SubscribeOptions{Content: SummaryOnly}), s.reader(SubscribeOptions{Content: KeysOnly})
	step := func(what string, wantSent int, wantA string) {
		t.Helper()
		r.sent, names.sent = 0, 0
		r.catchUp(t)
		names.catchUp(t)
		if r.sent != wantSent || r.vertices["a"] != wantA {
			t.Errorf("%s: %d summaries sent, want %d; a is %s, want %s", what, r.sent, wantSent, r.vertices["a"], wantA)
		}
		if len(names.vertices) != len(r.vertices) || names.vertices["a"] != "" {
			t.Errorf("%s: names are %v", what, names.vertices)
		}
	}
	const running, failed, root = `{"k":"Pod","h":"progressing","w":"NotReady","u":"uid-a"}`, `{"k":"Pod","h":"degraded","w":"Failed","end":true,"u":"uid-a","del":{"e":true}}`, `{"k":"Pod","h":"degraded","w":"Failed","end":true,"u":"uid-a","root":true,"del":{"e":true}}`
	step("at first", 2, running)
	s.set("Running", false, "a", "b")
	step("nothing that it shows", 0, running)
	late := s.reader(SubscribeOptions{Content: SummaryOnly, Since: r.rev})
	s.set("Failed", false, "a")
	step("another phase", 1, failed)
	s.set("Failed", true, "a")
	step("it is a root", 1, root)
	late.catchUp(t)
	if late.sent != 1 || late.vertices["a"] != root {
		t.Errorf("who comes back was sent %d: %v", late.sent, late.vertices)
	}
	whole := s.reader(SubscribeOptions{Since: r.rev})
	whole.catchUp(t)
	if len(whole.vertices) != 2 || whole.vertices["a"] == root {
		t.Errorf("a revision of summaries was honoured for whole objects: %v", whole.vertices)
	}
	whole.sent = 0
	s.set("Failed", false, "a")
	step("it is none any more", 1, failed)
	s.remove("a")
	s.set("Failed", false, "a")
	step("made again", 1, failed)
	s.remove("b")
	step("one goes", 0, failed)
	if len(r.vertices) != 1 {
		t.Errorf("left: %v", r.vertices)
	}
}

// TestSummaryOfRemote: a summary has what the object refers to in other clusters.
func TestSummaryOfRemote(t *testing.T) {
	const application = `{"kind":"Application","metadata":{"name":"edge","namespace":"argocd"},"spec":{"destination":{"server":"https://eu-1.example.com","namespace":"web"}},` +
		`"status":{"resources":[{"group":"apps","kind":"Deployment","name":"web","namespace":"web"},{"kind":"Namespace","name":"web"}]}}`
	for group, want := range map[string]string{
		"argoproj.io": `{"k":"Application","u":"u","x":[{"d":"argocd:https://eu-1.example.com","k":"Namespace","n":"web"},` +
			`{"d":"argocd:https://eu-1.example.com","g":"apps","k":"Deployment","ns":"web","n":"web"}]}`,
		"example.com": `{"k":"Application","u":"u"}`,
	} {
		s, err := summarize(group, &fakeObject{uid: "u", json: application})
		if err != nil {
			t.Fatal(err)
		}
		setHealth(&s, health.Health{State: health.Unknown})
		if got := string(jsonOf(&s)); got != want {
			t.Errorf("%s: %s, want %s", group, got, want)
		}
	}
}

// TestSummaryOfHiddenFields: a summary is of the whole object, also where the view
// shows only a part of it, or nothing as of a Secret.
func TestSummaryOfHiddenFields(t *testing.T) {
	for name, secret := range map[string]bool{"a part": false, "a Secret": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			set := func(app string) {
				s.graph.Update(func() {
					o := &fakeObject{uid: "u", secret: secret, json: fmt.Sprintf(`{"kind":"Pod","metadata":{"labels":{"app":%q}}}`, app)}
					selection := graph.Selection{Member: true}
					if !secret {
						selection.Part, selection.Hash = []byte(`["v1"]`), 1
					}
					s.show(&graph.Object{Namespace: "shop", Name: "a", Blank: secret, Payload: o}, selection)
				})
			}
			set("one")
			whole, r := s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{Content: SummaryOnly})
			whole.catchUp(t)
			r.catchUp(t)
			for _, app := range []string{"two", "two", "three"} {
				set(app)
				whole.catchUp(t)
				r.catchUp(t)
				if !strings.Contains(r.vertices["a"], `"app":"`+app+`"`) {
					t.Errorf("%s, want %s", r.vertices["a"], app)
				}
			}
			if whole.sent != 1 || r.sent != 3 {
				t.Errorf("%d contents and %d summaries were sent, want 1 and 3", whole.sent, r.sent)
			}
		})
	}
}

// TestSummaryOfSecret is made of the metadata alone.
func TestSummaryOfSecret(t *testing.T) {
	o := &fakeObject{uid: "u", secret: true, json: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","creationTimestamp":"2020-01-01T00:00:00Z","labels":{"app":"web"}},"status":{"phase":"Failed"}}`}
	got, err := Summarize("", o, false)
	if want := `{"k":"Secret","t":1577836800,"app":"web","u":"u"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// TestReadersAgree: all readers have the same graph in the end, however far behind they are and
// whenever they reconnect. Current readers share encoded pieces.
func TestReadersAgree(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a", "b", "c")
	var readers []*reader
	for i := range 30 {
		readers = append(readers, s.reader(SubscribeOptions{Content: Content(i % 2)}))
		readers[i].catchUp(t)
	}
	for i := range 50 {
		s.set([]string{"Running", "Failed", "Succeeded"}[i%3], i%4 == 0, fmt.Sprint("p", i%7), "a")
		if i%5 == 0 {
			s.remove(fmt.Sprint("p", (i+3)%7))
		}
		var all sync.WaitGroup
		for n, r := range readers {
			if i%(n/6+1) != 0 {
				continue // it is slower
			}
			if (i+n)%11 == 0 && r.rev != "" {
				r.Close()
				r.Subscription = s.publisher.Subscribe(SubscribeOptions{Content: Content(n % 2), Since: r.rev})
			}
			all.Go(func() { r.catchUp(t) })
		}
		all.Wait()
	}
	for n, r := range readers {
		r.catchUp(t)
		if fmt.Sprint(r.vertices) != fmt.Sprint(readers[n%2].vertices) || r.rev != readers[n%2].rev {
			t.Errorf("reader %d at %s: %v, want %v at %s", n, r.rev, r.vertices, readers[n%2].vertices, readers[n%2].rev)
		}
	}
	before := s.publisher.o.Shared.Encodings()
	s.set("Running", false, "a")
	for _, r := range readers {
		r.catchUp(t)
	}
	if n := s.publisher.o.Shared.Encodings() - before; n != 2 {
		t.Errorf("%d encodings for two sorts of content", n)
	}
}

// TestDenials: a subscriber without rights on a resource gets a warning that does not depend on
// whether the resource has objects.
func TestDenials(t *testing.T) {
	s := newStage(t)
	resources := []ScopedResource{{pods, true}, {secrets, true}, {namespaces, false}}
	mayReadPods := fixedAccess{{Resource: "pods", Namespace: "shop"}: true}
	many := map[string]bool{}
	for i := range 1000 {
		many[fmt.Sprint("ns-", i)] = true
	}
	for name, test := range map[string]struct {
		namespaces map[string]bool
		want       []string
	}{
		"all namespaces": {nil, []string{"pods ", "secrets ", "namespaces "}},
		"named ones":     {map[string]bool{"shop": true, "red": true}, []string{"pods red", "secrets shop", "secrets red", "namespaces "}},
		"a thousand":     {many, []string{"pods ", "secrets ", "namespaces "}},
	} {
		t.Run(name, func(t *testing.T) {
			s.state.SetScope(resources, test.namespaces, false)
			r := s.reader(SubscribeOptions{Access: mayReadPods})
			check := func(when string) {
				t.Helper()
				r.catchUp(t)
				got := map[string]bool{}
				for id := range r.warnings {
					got[id.resource+" "+id.namespace] = true
				}
				if len(got) != len(test.want) {
					t.Errorf("%s: %v, want %v", when, got, test.want)
				}
				for _, want := range test.want {
					if !got[want] {
						t.Errorf("%s: no warning about %s", when, want)
					}
				}
			}
			check("without objects")
			s.set("Running", false, "a")
			check("with one")
			s.remove("a")
			check("without it")
			s.state.SetScope(nil, nil, false)
			s.set("Running", false, "b")
			test.want = nil
			check("nothing is selected")
		})
	}
}

// BenchmarkResumers is what a reader that is current waits while a thousand others
// come back, each from another revision.
func BenchmarkResumers(b *testing.B) {
	s := newStage(b)
	names := make([]string, 2000)
	for i := range names {
		names[i] = fmt.Sprint("p", i)
	}
	s.set("Running", false, names...)
	var revs []string
	r := s.reader(SubscribeOptions{})
	for i := range 1000 {
		s.set("Failed", false, names[i], names[(i*7)%2000])
		r.catchUp(b)
		revs = append(revs, r.rev)
	}
	current := make([]*reader, 100)
	for i := range current {
		current[i] = s.reader(SubscribeOptions{Since: r.rev})
		current[i].catchUp(b)
	}
	for b.Loop() {
		var left atomic.Int64
		left.Store(int64(len(revs)))
		var resumers sync.WaitGroup
		for _, rev := range revs {
			resumers.Go(func() {
				defer left.Add(-1)
				again := s.publisher.Subscribe(SubscribeOptions{Since: rev})
				defer again.Close()
				for {
					if _, wait, err := again.poll(); err != nil || !wait.moved {
						return
					}
				}
			})
		}
		s.set("Running", false, names[0])
		for _, r := range current {
			r.catchUp(b)
		}
		b.ReportMetric(float64(left.Load()), "resumers-left")
		b.StopTimer()
		resumers.Wait()
		b.StartTimer()
	}
}

// TestFind: one object comes with its arcs at both ends; what may not be seen is as
// what is not there, and neither is an arc that leads to it.
func TestFind(t *testing.T) {
	s := newStage(t)
	s.state.SetScope([]ScopedResource{{pods, true}}, nil, false)
	s.graph.Update(func() {
		for _, at := range []string{"shop/a", "shop/b", "red/c"} {
			namespace, name, _ := strings.Cut(at, "/")
			o := &fakeObject{uid: name, json: `{"apiVersion":"v1","kind":"Pod"}`}
			object := &graph.Object{Namespace: namespace, Name: name, Payload: o}
			if name != "b" {
				object.References = []graph.Reference{{Type: graph.Direct, To: graph.Kind{Kind: "Pod"}, Namespace: "shop", Name: "b", Field: "spec.other"}}
			}
			s.show(object, graph.Selection{Member: true, Root: name == "b"})
		}
	})
	find := func(namespace, name string, who Access) string {
		t.Helper()
		f, err := s.publisher.Find(t.Context(), graph.Key{Resource: graph.Resource{Resource: "pods"}, Namespace: namespace, Name: name}, who)
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			return "none"
		}
		return fmt.Sprintf("{%s} in [%s] out [%s]", f.Vertex, f.In, f.Out)
	}
	const (
		a    = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"}`
		b    = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"b"}`
		arc  = `{"s":` + a + `,"d":` + b + `,"t":"r","a":{"f":["spec.other"],"w":["uses"]}}`
		toB  = `{"vx":` + b + `,"m":{"k":"Pod","h":"progressing","w":"NotObserved","u":"b","root":true},"o":{"apiVersion":"v1","kind":"Pod"}} in [` + arc + `] out []`
		onlA = `{"vx":` + a + `,"m":{"k":"Pod","h":"progressing","w":"NotObserved","u":"a"},"o":{"apiVersion":"v1","kind":"Pod"}} in [] out [` + arc + `]`
	)
	shop := fixedAccess{{Resource: "pods", Namespace: "shop"}: true}
	for name, test := range map[string]struct{ got, want string }{
		"a source":            {find("shop", "a", shop), onlA},
		"a target":            {find("shop", "b", shop), toB},
		"absent":              {find("shop", "x", shop), "none"},
		"denied":              {find("red", "c", shop), "none"},
		"for the operator":    {find("red", "c", nil)[:5], `{"vx"`},
		"of no selected kind": {find("", "b", nil), "none"},
		"nothing may be seen": {find("shop", "b", fixedAccess{}), "none"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", name, test.got, test.want)
		}
	}
}
