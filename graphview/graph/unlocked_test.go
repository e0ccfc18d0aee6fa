package graph

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crossroads is a node that many pods refer to by name, a lens with all of them and
// others with a few.
type crossroads struct {
	*cluster
	pods         int
	large        *Lens
	small        []*Lens
	newer, nodes SourceID
	node         []Reference // of each pod
}

func newCrossroads(pods, lenses int) *crossroads {
	c := &crossroads{cluster: newCluster(), pods: pods}
	c.large, c.nodes = c.lens, c.sources["Node"]
	c.node = []Reference{{Type: Direct, To: Kind{Kind: "Node"}, Scope: ScopeCluster, Name: "node", Field: "spec.nodeName"}}
	c.g.Update(func() {
		c.large.SetRoots(false, Walk{})
		c.newer = c.g.AddSource(Kind{Kind: "Pod"}, Resource{Version: "v2", Resource: "Pod"}, ScopeNamespaced)
		c.large.Watch(c.newer)
		c.set("Node", "", "node", nil, nil)
	})
	for i := range pods {
		c.g.Update(func() {
			c.set("Pod", "shop", fmt.Sprint("pod-", i), nil, c.node)
			o := c.object("shop", fmt.Sprint("pod-", i), nil, c.node)
			c.large.Select(c.g.Set(c.newer, &o), Selection{Member: true, Root: i == 0, Hash: o.Hash})
		})
	}
	c.g.Update(func() {
		c.large.Select(c.g.Find(c.sources["Pod"], "shop", "pod-0"), Selection{Member: true, Root: true, Hash: 1})
	})
	for i := range lenses {
		c.g.Update(func() {
			l := c.newLens()
			l.SetRoots(false, Walk{})
			for kind, name := range map[string]string{"Pod": fmt.Sprint("pod-", i), "Node": "node"} {
				l.Select(c.g.Find(c.sources[kind], map[string]string{"Pod": "shop"}[kind], name), Selection{Member: true, Hash: 1})
			}
			c.small = append(c.small, l)
		})
	}
	return c
}

// within has the large lens show what is within two arcs from the first pod: all of it.
func (c *crossroads) within() { c.large.SetRoots(true, Walk{Direction: Both, Depth: 2}) }

// inNamespace adds the pods' Namespace, and a Service that selects them for its label. A
// small lens knows the Namespace too.
func (c *crossroads) inNamespace() {
	c.sources["Namespace"] = c.g.AddSource(NamespaceKind, Resource{Version: "v1", Resource: "Namespace"}, ScopeCluster)
	for _, l := range []*Lens{c.large, c.small[1]} {
		l.Watch(c.sources["Namespace"])
		l.Use(NamespaceKind, Resource{Version: "v1", Resource: "Namespace"})
	}
	c.set("Namespace", "", "shop", map[string]string{"open": "yes"}, nil)
	c.small[1].Select(c.namespace(), Selection{Member: true, Hash: 1})
	c.set("Service", "shop", "hub", nil, []Reference{{
		Type: Direct, To: Kind{Kind: "Pod"}, AllNamespaces: true, Selector: &Selector{},
		Namespaces: &Selector{Requirements: []Requirement{{Key: "open", Op: Exists}}},
	}})
}

func (c *crossroads) namespace() NodeID { return c.g.Find(c.sources["Namespace"], "", "shop") }

// changes reads what a lens has for a client.
func (c *client) changes(t *testing.T, l *Lens) picture {
	t.Helper()
	for !c.read(t, l, 1<<20) {
	}
	return c.picture
}

// leaveLate makes a change of a lens that gets no turn, since another lens gets it.
func (c *crossroads) leaveLate(t *testing.T, l *Lens, change func()) {
	t.Helper()
	c.g.lenses = append(slices.DeleteFunc(c.g.lenses, func(other *Lens) bool { return other == l }), l)
	c.g.commitVisits = 0
	c.g.Update(func() {
		change()
		c.small[0].SetInferred(c.small[0].excludeInferred)
	})
	if late := c.g.Late(); !slices.Equal(late, []*Lens{l}) {
		t.Fatalf("%d lenses are late, want one", len(late))
	}
}

// TestCommitsUnlockTheGraph: a change that visits much of a lens, or that many lenses see, is committed
// after the graph is unlocked, and to lenses for which that takes too long in further revisions. Readers of
// other lenses continue; those of a late one wait, and then find one revision.
func TestCommitsUnlockTheGraph(t *testing.T) {
	const pods, lenses = 1_000, 60
	pod := Kind{Kind: "Pod"}
	for name, tt := range map[string]struct {
		change    func(c *crossroads)
		before    func(c *crossroads) // if not nil, in another revision
		wantAside int
		wantArcs  int // of the large lens, after it
		wantShown int // vertices of it
	}{
		"another walk":                            {func(c *crossroads) { c.large.SetRoots(true, Walk{Direction: Down, Depth: 2}) }, nil, 1, 1, 2},
		"without inferred references":             {func(c *crossroads) { c.large.SetInferred(false) }, nil, 1, pods, pods + 1},
		"another version":                         {func(c *crossroads) { c.large.Use(pod, Resource{Version: "v2", Resource: "Pod"}) }, nil, 1, pods, pods + 1},
		"a kind is not watched any more":          {func(c *crossroads) { c.large.Unuse(pod) }, nil, 1, 0, 1},
		"a small lens with a hub has other roots": {func(c *crossroads) { c.small[0].SetRoots(true, Walk{}) }, nil, 1, pods, pods + 1},
		"one pod changes":                         {func(c *crossroads) { c.set("Pod", "shop", "pod-3", nil, nil) }, nil, 0, pods - 1, pods + 1},
		"what all refer to goes":                  {func(c *crossroads) { c.g.Remove(c.nodes, "", "node") }, nil, lenses + 1, pods, pods},
		"and another walk in that revision": {func(c *crossroads) {
			c.g.Remove(c.nodes, "", "node")
			c.large.SetRoots(true, Walk{Direction: Down})
		}, nil, lenses + 1, 1, 1},
		"within a depth, a pod goes":    {func(c *crossroads) { c.set("Pod", "shop", "pod-3", nil, nil) }, (*crossroads).within, 2, pods - 1, pods},
		"within a depth, a pod changes": {func(c *crossroads) { c.set("Pod", "shop", "pod-3", nil, c.node) }, (*crossroads).within, 0, pods, pods + 1},
		"a hub is within a depth": {func(c *crossroads) { c.set("Pod", "shop", "pod-0", nil, nil) }, func(c *crossroads) {
			c.large.SetRoots(true, Walk{Direction: Down, Depth: 1})
		}, 2, 0, 0},
		"a namespace is no member any more": {func(c *crossroads) { c.large.Select(c.namespace(), Selection{}) }, (*crossroads).inNamespace, 1, pods, pods + 2},
		"nor with roots": {func(c *crossroads) { c.large.Select(c.namespace(), Selection{}) }, func(c *crossroads) {
			c.inNamespace()
			c.large.SetRoots(true, Walk{Direction: Both})
		}, 1, pods, pods + 1},
		"nor of a small lens": {func(c *crossroads) { c.small[1].Select(c.namespace(), Selection{}) }, (*crossroads).inNamespace, 1, 2 * pods, pods + 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrossroads(pods, lenses)
			if tt.before != nil {
				c.g.Update(func() { tt.before(c) })
				c.drain()
			}
			c.g.commitVisits = 1_900
			var large, small client
			large.picture, small.picture = newPicture(), newPicture()
			before := large.changes(t, c.large).String()
			smallBefore := small.changes(t, c.small[0]).String()
			seen, aside := map[*Lens]bool{}, 0
			var reading sync.WaitGroup
			c.g.ObserveLenses(func(l *Lens, _ uint64) bool {
				if l.Committing() == nil {
					return true
				}
				if seen[l] {
					t.Error("a lens is committed twice")
				}
				seen[l] = true
				if l != c.large {
					return true
				}
				if c.small[0].Committing() == nil && small.changes(t, c.small[0]).String() != smallBefore {
					t.Error("another lens looks different")
				}
				reading.Go(func() { // waits, or the race detector says so
					if got := large.changes(t, c.large).String(); got == before && tt.wantArcs != pods {
						t.Error("a reader of the lens found what was before")
					}
				})
				return true
			})
			for fn := func() { tt.change(c) }; aside == 0 || c.g.HasCleanup(); fn = func() {} {
				c.g.Update(fn)
				if aside += len(c.g.ended); tt.wantAside == 0 {
					break
				}
			}
			reading.Wait()
			if aside != tt.wantAside {
				t.Errorf("%d lenses are committed with the graph unlocked, want %d", aside, tt.wantAside)
			}
			large.changes(t, c.large)
			if len(large.vertices) != tt.wantShown || len(large.arcs) != tt.wantArcs {
				t.Errorf("the reader has %d vertices and %d arcs, want %d and %d", len(large.vertices), len(large.arcs), tt.wantShown, tt.wantArcs)
			}
			fresh := client{picture: newPicture()}
			if diff := cmp.Diff(fresh.changes(t, c.large).String(), large.String()); diff != "" {
				t.Errorf("who reads from the beginning has another graph (-fresh +reader):\n%s", diff)
			}
			if len(c.g.open.changes)+len(c.g.kept)+len(c.g.unsettled.nodes)+len(c.g.unsettled.slots)+len(c.g.unsettled.stamps) > 0 || c.g.held {
				t.Errorf("left of the revision: %d changes, %d earlier ones, %+v", len(c.g.open.changes), len(c.g.kept), c.g.unsettled)
			}
		})
	}
}

// TestReadersBesideTheWriter reads small and large lenses while all of them have other
// roots, versions and objects all the time; the race detector says whether what they read
// is written.
func TestReadersBesideTheWriter(t *testing.T) {
	const pods, lenses = 200, 8
	c := newCrossroads(pods, lenses)
	c.g.sliceChanges, c.g.commitVisits, c.g.arcsAtOnce = 16, 300, 3
	readers := append([]*Lens{c.large}, c.small...)
	done := make(chan struct{})
	var reading sync.WaitGroup
	for _, l := range readers {
		reading.Go(func() {
			n := l.Narrow(Narrowing{Roots: []Key{{Resource: Resource{Resource: "Node"}, Name: "node"}}, Walk: Walk{Direction: Both}})
			for {
				select {
				case <-done:
					return
				default:
				}
				var pos, part Position
				for range 4 {
					_, _ = l.Read(&pos, 50, Reading{}, everything)
					_, _ = n.Read(&part, 50, Reading{All: true}, always, everything)
					_, _ = l.Read(&pos, 50, Reading{NoWait: true}, everything)
					l.Changed(l.Head())
					l.Uses(uint64(l.Vertices()))
					l.Counts()
					l.Look(Key{Resource: Resource{Resource: "Node"}, Name: "node"}, 10, Reading{})
					c.g.Size()
				}
			}
		})
	}
	hub := Reference{Type: Direct, To: Kind{Kind: "Pod"}, AllNamespaces: true, Selector: &Selector{}, Field: "spec.selector"}
	for round := range 12 {
		for _, change := range []func(){
			func() { c.large.SetRoots(round%2 == 0, Walk{Direction: Both, Depth: round % 3}) },
			func() { c.large.SetInferred(round%2 == 0) },
			func() { c.g.Remove(c.nodes, "", "node") },
			func() { c.set("Service", "shop", "hub", nil, []Reference{hub}) },
			func() {
				c.large.Use(Kind{Kind: "Pod"}, Resource{Version: fmt.Sprint("v", 1+round%2), Resource: "Pod"})
				c.g.Remove(c.sources["Pod"], "shop", fmt.Sprint("pod-", round))
			},
			func() { c.set("Node", "", "node", nil, nil) },
			func() { c.g.Remove(c.sources["Service"], "shop", "hub") },
			func() { c.large.Forget(c.large.head) },
		} {
			c.g.Update(change)
			c.drain()
		}
	}
	close(done)
	reading.Wait()
	fresh := client{picture: newPicture()}
	if got := fresh.changes(t, c.large); len(got.vertices) != c.large.Counts().Vertices || len(got.arcs) != c.large.Counts().Arcs {
		t.Errorf("a new reader has %d vertices and %d arcs, and the lens counts %+v", len(got.vertices), len(got.arcs), c.large.Counts())
	}
}
