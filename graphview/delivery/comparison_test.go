package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"graphview.dev/api/contents"
	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/test/patience"
)

// copyOf is the graph of a subscriber: a fold of the messages, in few lines.
type copyOf struct {
	vertices map[keyOf]string // the tag of the content
	arcs     map[[2]keyOf]contents.Attributes
	bytes    int // that were received
	sets     int
	resets   int // that kept nothing
	kept     int // resets that kept something
	rev      string
}

type keyOf struct{ G, V, R, Ns, N string }

func (k keyOf) tag() contents.Tag { return contents.KeyTag(k.G, k.V, k.R, k.Ns, k.N) }

func (c *copyOf) have(r *rand.Rand) *contents.Have {
	h := contents.New(r.IntN(6), contents.NewSeed())
	for k, text := range c.vertices {
		tag, _ := contents.ParseTag(text)
		h.AddVertex(k.tag(), tag)
	}
	for k, a := range c.arcs {
		h.AddArc(k[0].tag(), k[1].tag(), a.Tag())
	}
	return h
}

func (c *copyOf) apply(tb testing.TB, f *Frame) {
	tb.Helper()
	type arc struct {
		S, D keyOf
		T    string
		A    struct {
			C, B, E, O bool
			X          string
			F, W       []string
		}
	}
	var m struct {
		Reset   bool
		Keep    string
		Rev     string
		Actions []struct {
			Svx, Dvx *struct {
				Vx keyOf
				C  string
			}
			Sarc, Darc *arc
		}
	}
	if err := json.Unmarshal(f.JSON, &m); err != nil {
		tb.Fatalf("%v in %s", err, f.JSON)
	}
	c.bytes += len(f.JSON)
	if m.Rev != "" {
		c.rev = m.Rev
	}
	if m.Reset {
		if m.Keep == "" {
			c.resets++
		} else {
			c.kept++
		}
		kept, err := contents.ParseKept(m.Keep)
		keeps := func(k keyOf) bool { return err == nil && kept.Has(k.tag()) }
		maps.DeleteFunc(c.vertices, func(k keyOf, _ string) bool { return !keeps(k) })
		maps.DeleteFunc(c.arcs, func(k [2]keyOf, _ contents.Attributes) bool { return !keeps(k[0]) })
	}
	for _, a := range m.Actions {
		switch {
		case a.Svx != nil:
			c.vertices[a.Svx.Vx] = a.Svx.C
			c.sets++
		case a.Dvx != nil:
			delete(c.vertices, a.Dvx.Vx)
		case a.Sarc != nil:
			of := a.Sarc
			c.arcs[[2]keyOf{of.S, of.D}] = contents.Attributes{
				Type: of.T, Controller: of.A.C, Block: of.A.B, Missing: of.A.E, Optional: of.A.O, Outside: of.A.X, Fields: of.A.F, Words: of.A.W,
			}
			c.sets++
		case a.Darc != nil:
			delete(c.arcs, [2]keyOf{a.Darc.S, a.Darc.D})
		}
	}
}

// follow applies messages until the subscription has nothing more, or until enough have come. It reports
// whether the subscription is still open.
func (c *copyOf) follow(tb testing.TB, s *reader, enough int) bool {
	tb.Helper()
	for {
		frames, err := s.Poll()
		if closed, ok := errors.AsType[*ClosedError](err); ok && closed.Reason == reason.Outdated {
			return false
		} else if err != nil {
			tb.Fatal(err)
		}
		for _, f := range frames {
			c.apply(tb, f)
			if enough--; enough == 0 {
				return true
			}
		}
		lens := s.publisher.Lens()
		if !s.pause.moved && !s.pause.compares && s.pause.missing == nil && s.awaited == nil && s.have == nil && s.state.pos.Known == lens.Head() {
			return true
		}
		if err := s.Wait(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

func newCopy() *copyOf {
	return &copyOf{vertices: map[keyOf]string{}, arcs: map[[2]keyOf]contents.Attributes{}}
}

// someNamespaces are rights that are found one by one, and may change.
type someNamespaces struct {
	may     map[string]bool
	known   map[string]bool
	changed chan struct{}
}

func (a *someNamespaces) Rights() Rights {
	return namespaceRights{maps.Clone(a.may), maps.Clone(a.known)}
}

func (a *someNamespaces) Resolve(_ context.Context, places []access.Place) error {
	for _, p := range places {
		a.known[p.Namespace] = true
	}
	return nil
}

func (a *someNamespaces) Changed() <-chan struct{} { return a.changed }

type namespaceRights struct{ may, known map[string]bool }

func (r namespaceRights) Allowed(p access.Place) (allowed, known bool) {
	return r.may[p.Namespace], r.known[p.Namespace]
}

func (r namespaceRights) Digest() string { return fmt.Sprint(r.may, r.known) }

// history changes pods in three namespaces and the references between them.
func (s *stage) history(r *rand.Rand, changes int) {
	pod := func() string { return fmt.Sprintf("n%d/p%d", r.IntN(3), r.IntN(20)) }
	for range changes {
		name := pod()
		if namespace, pod, _ := strings.Cut(name, "/"); r.IntN(4) == 0 {
			s.graph.Update(func() { s.graph.Remove(s.source, namespace, pod) })
			continue
		}
		var to []string
		for range r.IntN(4) {
			target := pod()
			if r.IntN(4) == 0 {
				target = "?" + target
			}
			to = append(to, target)
		}
		s.link(map[string][]string{name: to})
	}
}

// crowd makes n pods. Each refers to the next.
func (s *stage) crowd(n int) {
	pods := make(map[string][]string, n)
	for i := range n {
		pods[fmt.Sprint("shop/p", i)] = []string{fmt.Sprint("shop/p", (i+1)%n)}
	}
	s.link(pods)
}

// sums returns the sums of the copy, in buckets of some 4 vertices.
func (c *copyOf) sums() *contents.Have {
	h := contents.New(contents.BitsFor(len(c.vertices), contents.MaxBits), contents.NewSeed())
	for k, text := range c.vertices {
		tag, _ := contents.ParseTag(text)
		h.AddVertex(k.tag(), tag)
	}
	for k, a := range c.arcs {
		h.AddArc(k[0].tag(), k[1].tag(), a.Tag())
	}
	return h
}

// TestComparisonIsShared: subscribers with equal rights that come together are served by one walk of the graph.
func TestComparisonIsShared(t *testing.T) {
	s := newStage(t)
	s.crowd(500)
	mine := newCopy()
	mine.follow(t, s.reader(SubscribeOptions{Tags: true}), 0)
	have := mine.sums()
	var first *reader
	comparisons := map[*comparison]bool{}
	for i := range 20 {
		one := s.reader(SubscribeOptions{Tags: true, Have: have})
		if frames, err := one.Poll(); len(frames) > 0 || err != nil {
			t.Fatal(frames, err)
		}
		c, _ := s.publisher.changes.slot(one.digest).compare(have)
		comparisons[c] = true
		if i == 0 {
			first = one
		}
	}
	if len(comparisons) != 1 {
		t.Errorf("%d comparisons, want 1", len(comparisons))
	}
	if err := first.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for c := range comparisons {
		if !c.done || c.sums != nil {
			t.Error("the comparison keeps its sums after its end")
		}
	}
}

// TestComparisonEndsWithItsView: the graph of a view that ends, or begins again without objects, is not compared for ever.
func TestComparisonEndsWithItsView(t *testing.T) {
	s := newStage(t)
	s.crowd(10)
	mine := newCopy()
	mine.follow(t, s.reader(SubscribeOptions{Tags: true}), 0)
	one := s.reader(SubscribeOptions{Tags: true, Have: mine.sums()})
	if frames, err := one.Poll(); len(frames) > 0 || err != nil {
		t.Fatal(frames, err)
	}
	s.graph.Update(s.lens.Close)
	why := &ClosedError{Reason: reason.Deleted}
	s.state.To(State{Phase: Ended, Why: why})
	waited := make(chan error, 1)
	go func() { waited <- one.Wait(t.Context()) }()
	select {
	case err := <-waited:
		if err != nil {
			t.Errorf("the wait ends with %v", err)
		}
	case <-time.After(patience.For(10 * time.Second)):
		t.Fatal("the wait does not end")
	}
	if _, err := one.Poll(); !errors.Is(err, why) {
		t.Errorf("the stream ends with %v, want %v", err, why)
	}
}

// TestOutdated: an open stream of a subscriber that compares ends when it would be reset, and the next one continues.
// A subscriber that does not compare is reset.
func TestOutdated(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"n0/a": {"n1/b"}, "n1/b": nil})
	rights := &someNamespaces{may: map[string]bool{"n0": true}, known: map[string]bool{}, changed: make(chan struct{})}
	compares, other := newCopy(), newCopy()
	one, two := s.reader(SubscribeOptions{Tags: true, Access: rights}), s.reader(SubscribeOptions{Access: rights})
	if !compares.follow(t, one, 0) || !other.follow(t, two, 0) {
		t.Fatal("a stream ends at once")
	}
	rights.may["n1"] = true
	close(rights.changed)
	rights.changed = make(chan struct{})
	if compares.follow(t, one, 0) || !other.follow(t, two, 0) {
		t.Error("the stream of who compares goes on, or the other one ends")
	}
	compares.follow(t, s.reader(SubscribeOptions{Tags: true, Access: rights, Have: compares.sums()}), 0)
	if len(compares.vertices) != 2 || len(other.vertices) != 2 {
		t.Errorf("%d and %d vertices, want 2", len(compares.vertices), len(other.vertices))
	}
}

// TestSyncing: a view that is not complete does not answer a subscriber that has a graph.
func TestSyncing(t *testing.T) {
	s := newStage(t)
	s.state = NewViewState()
	s.publisher.o.State = s.state
	mine := newCopy()
	mine.vertices[keyOf{V: "v1", R: "pods", Ns: "shop", N: "old"}] = ""
	one := s.reader(SubscribeOptions{Tags: true, Have: mine.sums()})
	for _, want := range []string{`{"syncing":true}`, ""} {
		frames, err := one.Poll()
		got := ""
		for _, f := range frames {
			got += string(f.JSON)
		}
		if err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	s.crowd(3)
	s.state.To(State{Phase: Serving})
	mine.follow(t, one, 0)
	if len(mine.vertices) != 3 {
		t.Errorf("%d vertices, want 3", len(mine.vertices))
	}
}

// TestSumsAreReleased: the sums of a subscriber are charged until they have been compared, or are not needed.
func TestSumsAreReleased(t *testing.T) {
	s := newStage(t)
	s.link(map[string][]string{"a/one": nil})
	ledger := budget.NewLedger(1 << 20)
	for name, end := range map[string]func(*reader){
		"closed":   func(*reader) {},
		"compared": func(r *reader) { newCopy().follow(t, r, 0) },
		"since":    func(r *reader) { newCopy().follow(t, r, 0) },
	} {
		o := SubscribeOptions{Tags: true, Have: contents.New(3, contents.NewSeed()), Sums: ledger.Account(budget.NamespaceOwner("a"))}
		if name == "since" {
			first := s.reader(SubscribeOptions{Tags: true})
			newCopy().follow(t, first, 0)
			o.Since = first.publisher.o.Run.encode(first.publisher.revision(first.viewer(), first.state.pos.Known))
			first.Close()
		}
		if err := o.Sums.Set(budget.Connections, 128); err != nil {
			t.Fatal(err)
		}
		r := s.reader(o)
		if ledger.Total() != 128 {
			t.Errorf("%s: %d bytes are charged at first", name, ledger.Total())
		}
		end(r)
		if name == "closed" {
			r.Close()
		}
		if ledger.Total() != 0 {
			t.Errorf("%s: %d bytes are charged in the end", name, ledger.Total())
		}
		r.Close()
	}
}

// BenchmarkHave continues subscribers of a graph of 100,000 vertices and 600,000 arcs that has not changed, beside one
// that begins.
func BenchmarkHave(b *testing.B) {
	s := newStage(b)
	const n = 100_000
	pods := make(map[string][]string, n)
	for i := range n {
		var to []string
		for j := range 6 {
			to = append(to, fmt.Sprintf("team-%d/application-%d", (i+j+1)%n%50, (i+j+1)%n))
		}
		pods[fmt.Sprintf("team-%d/application-%d", i%50, i)] = to
	}
	s.link(pods)
	teams := make([]string, 50)
	for i := range teams {
		teams[i] = fmt.Sprint("team-", i)
	}
	mine := newCopy()
	mine.follow(b, s.reader(SubscribeOptions{Tags: true, Content: SummaryOnly}), 0)
	have := mine.sums()
	mine.follow(b, s.reader(SubscribeOptions{Tags: true, Content: SummaryOnly, Access: accessTo(teams...)}), 0)
	for name, o := range map[string]SubscribeOptions{
		"have":  {Tags: true, Content: SummaryOnly, Have: have},
		"begin": {Tags: true, Content: SummaryOnly, JoinWalk: true},
		"since": {Tags: true, Content: SummaryOnly, Since: s.rev(b)},
		// The subscriber's rights are not known.
		"forgotten": {Tags: true, Content: SummaryOnly, Since: mine.rev, Access: accessTo(teams...)},
	} {
		for _, subscribers := range []int{1, 16} {
			b.Run(fmt.Sprint(name, "/", subscribers), func(b *testing.B) {
				sent := 0
				for b.Loop() {
					sent += s.begin(b, o, subscribers)
				}
				b.ReportMetric(float64(sent)/float64(b.N*subscribers), "sent-B/subscriber")
			})
		}
	}
}

// rev returns the revision of the whole graph.
func (s *stage) rev(b *testing.B) string {
	b.Helper()
	one := s.publisher.Subscribe(SubscribeOptions{Tags: true, Content: SummaryOnly})
	defer one.Close()
	for {
		frames, err := one.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range frames {
			if f.Rev != "" {
				return f.Rev
			}
		}
	}
}

// begin opens subscriptions, and reads each until it is whole. It returns the bytes that are sent to all.
func (s *stage) begin(b *testing.B, o SubscribeOptions, subscribers int) int {
	b.Helper()
	var bytes atomic.Int64
	var wg sync.WaitGroup
	for range subscribers {
		wg.Go(func() {
			o := o
			if known, ok := o.Access.(*someNamespaces); ok {
				o.Access = &someNamespaces{may: known.may, known: map[string]bool{}, changed: known.changed}
			}
			one := s.publisher.Subscribe(o)
			defer one.Close()
			for whole := false; !whole; {
				frames, err := one.Next(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				for _, f := range frames {
					bytes.Add(int64(len(f.JSON)))
					whole = whole || f.Rev != ""
				}
			}
		})
	}
	wg.Wait()
	return int(bytes.Load())
}
