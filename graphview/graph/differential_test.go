package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// world drives a Graph and its model with the same random operations.
type world struct {
	t    *testing.T
	r    *rand.Rand
	g    *Graph
	m    *model
	tick uint64
	// exceed is who was told to exceed a bound.
	exceed map[Key]*budget.Bound
}

var (
	podKind, nodeKind, mapKind = Kind{"", "Pod"}, Kind{"", "Node"}, Kind{"", "ConfigMap"}
	podsV1                     = Resource{"", "v1", "pods"}
	podsV2                     = Resource{"", "v2", "pods"}
	nodesV1                    = Resource{"", "v1", "nodes"}
	mapsV1                     = Resource{"", "v1", "configmaps"}
	namespacesV1               = Resource{"", "v1", "namespaces"}
)

// withoutNamespaces allows a reader all but what says how namespaces are labelled.
func withoutNamespaces(r Resource, _ string) bool { return r != namespacesV1 }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), g: New(), exceed: map[Key]*budget.Bound{}}
	if seed%3 == 0 {
		w.g.span = 200 // so that stamps are counted anew now and then
	}
	w.m = &model{
		sources: map[SourceID]modelSource{}, objects: map[SourceID]map[string]Object{}, scopes: map[Kind]Scope{},
		mostOfObject: w.g.mostOfObject, mostOfNamespace: w.g.mostOfNamespace, mostRequirements: w.g.mostRequirements,
		mostNamed: w.g.mostNamed, unnamed: map[Key]bool{}, leftOut: map[Key]int{},
	}
	if seed%3 > 0 { // so that what is for many selectors, or objects, is there for few
		w.g.fewSelectors, w.g.postingsLeast = 0, 2
	}
	if seed%4 < 2 {
		w.m.mostRequirements, w.g.mostRequirements = 2, 2
	}
	if seed%2 == 0 { // bounds that are exceeded, and not, all the time
		w.m.mostOfObject, w.m.mostOfNamespace = 5, 16
		w.g.mostOfObject, w.g.mostOfNamespace = 5, 16
	}
	if seed%3 < 2 {
		w.m.mostNamed, w.g.mostNamed = 20, 20
	}
	if seed%4 > 0 { // so that hubs and slices are small enough to be there
		w.g.hubSize, w.g.sliceChanges = 2, 3
	}
	return w
}

// update makes a revision, and then those that it takes until nothing is left to
// be done.
func (w *world) update(fn func()) {
	w.g.Update(fn)
	w.exceedances()
	for w.g.Pending() {
		w.g.Update(func() {})
		w.exceedances()
	}
	w.m.bounds()
	w.m.leaveOut()
}

// retry has those read again whose references were left out and have room.
func (w *world) retry() {
	w.update(func() {
		told := map[Key]bool{}
		for _, u := range w.g.RetryReferences() {
			for _, id := range u.Sources {
				o, src := w.m.objects[id][u.Namespace+"/"+u.Name], w.m.sources[id]
				told[Key{src.resource, u.Namespace, u.Name}] = true
				w.g.Set(id, &o)
			}
		}
		want := map[Key]bool{}
		for _, k := range w.m.room() {
			want[k] = true
			delete(w.m.unnamed, k)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			w.t.Fatalf("whose references have room (-want +told):\n%s", diff)
		}
	})
}

// exceedances takes in whom the graph says to exceed a bound.
func (w *world) exceedances() {
	for _, x := range w.g.Exceedances() {
		for _, id := range x.Sources {
			if src, ok := w.m.sources[id]; ok {
				key := Key{src.resource, x.Namespace, x.Name}
				if delete(w.exceed, key); x.Err != nil {
					w.exceed[key] = x.Err.(*budget.Exceeded).Bound
				}
			}
		}
	}
}

// checkBounds wants those who exceed a bound to be those who were told.
func (w *world) checkBounds() {
	w.t.Helper()
	told := map[Key]string{}
	for key, b := range w.exceed {
		if _, ok := w.m.dropped[key]; !ok && !w.m.unnamed[key] && !w.m.holds(key) {
			delete(w.exceed, key) // it has gone, which nobody needs to tell
			continue
		}
		told[key] = b.Name()
	}
	want := map[Key]string{}
	for key, b := range w.m.dropped {
		want[key] = b.Name()
	}
	for key := range w.m.unnamed {
		want[key] = namedOfNamespace.Name()
	}
	if diff := cmp.Diff(want, told); diff != "" {
		w.t.Fatalf("who exceeds a bound (-want +told):\n%s", diff)
	}
}

func (w *world) addSource(kind Kind, resource Resource, scope Scope) SourceID {
	id := w.g.AddSource(kind, resource, scope)
	w.m.sources[id] = modelSource{kind, resource}
	w.m.objects[id] = map[string]Object{}
	w.m.scopes[kind] = scope
	return id
}

func (w *world) addLens(rooted bool, walk Walk) *modelLens {
	salt := w.r.Uint64()
	l := &modelLens{lens: w.g.NewLens(), sources: map[SourceID]bool{}, uses: map[Kind]Resource{}, rooted: rooted, walk: walk}
	l.decide = func(k Key, o Object) Selection {
		h := rand.New(rand.NewPCG(salt, o.Hash/4)) // so that some updates change the decision and some do not
		s := Selection{Member: h.IntN(8) != 0, Root: h.IntN(10) == 0, Hash: o.Hash}
		if salt%2 == 0 {
			s.Part = o.Hash // of its own, though equal to what the object has
		}
		return s
	}
	l.lens.SetRoots(rooted, walk)
	for range 3 {
		l.clients = append(l.clients, &client{picture: newPicture()})
	}
	l.clients = append(l.clients, &client{picture: newPicture(), allow: withoutNamespaces}, &client{picture: newPicture(), most: 5})
	for range 2 {
		l.narrowed = append(l.narrowed, w.narrow(l))
	}
	w.m.lenses = append(w.m.lenses, l)
	return l
}

// walk is any walk.
func (w *world) walk() Walk {
	return Walk{
		Direction: pick(w.r, Forward, Down, Up, Both), Depth: w.r.IntN(4),
		Against: pick(w.r, nil, []ArcType{OwnerReference}), Types: pick(w.r, nil, nil, []ArcType{Direct}, []ArcType{OwnerReference, Transitive}),
	}
}

func (w *world) watch(l *modelLens, id SourceID) {
	src := w.m.sources[id]
	l.sources[id] = true
	l.uses[src.kind] = src.resource
	l.lens.Watch(id)
	l.lens.Use(src.kind, src.resource)
	for _, o := range w.m.objects[id] {
		l.lens.Select(w.g.Find(id, o.Namespace, o.Name), l.decide(Key{src.resource, o.Namespace, o.Name}, o))
	}
}

func (w *world) name() string { return fmt.Sprint("n", w.r.IntN(12)) }

func (w *world) references(ns string) []Reference {
	var refs []Reference
	for range w.r.IntN(5) {
		ref := Reference{
			Type: pick(w.r, OwnerReference, Direct, Transitive), Optional: w.r.IntN(2) == 0, Inferred: w.r.IntN(3) == 0, To: pick(w.r, podKind, nodeKind, mapKind, podKind, nodeKind, mapKind, NamespaceKind),
			Namespace: ns, Name: w.name(), Field: pick(w.r, "a", "b", "c.d[]", "e", "f"),
		}
		switch w.r.IntN(4) {
		case 0:
			ref.Name = ""
			ref.To = podKind
			ref.Type = pick(w.r, Direct, Transitive)
			if ref.AllNamespaces = w.r.IntN(4) == 0; ref.AllNamespaces && w.r.IntN(2) == 0 {
				ref.Namespaces = &Selector{Requirements: []Requirement{{Key: pick(w.r, "app", "tier"), Op: pick(w.r, In, NotIn, Exists), Values: []string{"x", "y"}}}}
			}
			ref.Selector = &Selector{Requirements: []Requirement{
				{Key: pick(w.r, "app", "tier"), Op: pick(w.r, In, In, NotIn, Exists, DoesNotExist), Values: []string{pick(w.r, "x", "y"), "z"}},
			}}
		case 1:
			ref.Type, ref.UID = OwnerReference, fmt.Sprint("u", w.r.IntN(3))
			ref.Controller, ref.BlockOwnerDeletion = w.r.IntN(2) == 0, w.r.IntN(2) == 0
			ref.Field = ""
		}
		if ref.To == nodeKind && w.r.IntN(2) == 0 {
			ref.Scope = ScopeCluster
		}
		// One target has one UID: the first reference to it that has one decides.
		for _, o := range refs {
			if o.Type == ref.Type && o.To == ref.To && o.Name == ref.Name {
				ref.UID, ref.Scope = o.UID, o.Scope
			}
		}
		refs = append(refs, ref)
	}
	return refs
}

// step does one random thing to a random source's object.
func (w *world) step() {
	var ids []SourceID
	for id := SourceID(1); id <= w.g.lastID; id++ {
		if _, ok := w.m.sources[id]; ok {
			ids = append(ids, id)
		}
	}
	id := pick(w.r, ids...)
	src := w.m.sources[id]
	ns := pick(w.r, "red", "blue")
	if w.m.scopes[src.kind] == ScopeCluster {
		ns = ""
	}
	name := w.name()
	if src.kind == NamespaceKind {
		name = pick(w.r, "red", "blue")
	}
	w.tick++
	if w.r.IntN(3) == 0 {
		w.g.Remove(id, ns, name)
		delete(w.m.objects[id], ns+"/"+name)
		w.m.forget(Key{src.resource, ns, name})
		return
	}
	refNS := ns
	if ns == "" && w.r.IntN(2) == 0 {
		refNS = "red" // else what it refers to is cluster-scoped, or nowhere
	}
	o := Object{
		Namespace: ns, Name: name, UID: fmt.Sprint("u", w.r.IntN(3)), Version: w.tick, Hash: uint64(w.r.IntN(40)),
		Labels: map[string]string{}, References: w.references(refNS),
	}
	o.Payload = o.Hash
	o.Class = classOf(o.Hash)
	for _, k := range []string{"app", "tier"} {
		if w.r.IntN(3) > 0 {
			o.Labels[k] = pick(w.r, "x", "y", "z")
		}
	}
	// All sources of a kind see the same object, under whatever version.
	for _, other := range ids {
		if w.m.sources[other].kind != src.kind {
			continue
		}
		if _, ok := w.m.objects[other][ns+"/"+name]; !ok && other != id {
			continue
		}
		w.m.readAgain(Key{w.m.sources[other].resource, ns, name}, o)
		w.m.objects[other][ns+"/"+name] = o
		n := w.g.Set(other, &o)
		for _, l := range w.m.lenses {
			if l.sources[other] {
				l.lens.Select(n, l.decide(Key{w.m.sources[other].resource, ns, name}, o))
			}
		}
	}
}

func (w *world) check(l *modelLens, c *client) {
	w.t.Helper()
	if diff := cmp.Diff(w.m.picture(l, c.allow).String(), c.String()); diff != "" {
		w.t.Fatalf("client of %+v differs from the naive picture (-naive +client):\n%s", l.walk, diff)
	}
}

func TestGraphEqualsNaiveTwin(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			var pods, wide, nodes, maps, newer, spaces SourceID
			w.g.Update(func() {
				pods = w.addSource(podKind, podsV1, ScopeNamespaced)
				wide = w.addSource(podKind, podsV1, ScopeNamespaced)
				maps = w.addSource(mapKind, mapsV1, ScopeNamespaced)
				spaces = w.addSource(NamespaceKind, namespacesV1, ScopeCluster)
				for _, l := range []*modelLens{
					w.addLens(false, Walk{}), w.addLens(true, Walk{}), w.addLens(true, Walk{Against: []ArcType{OwnerReference}}),
					w.addLens(true, Walk{Against: []ArcType{OwnerReference, Direct, Transitive}}), w.addLens(true, w.walk()), w.addLens(true, w.walk()),
				} {
					w.watch(l, pods)
					w.watch(l, maps)
					w.watch(l, spaces)
				}
			})
			for round := range 150 {
				w.update(func() {
					for range 1 + w.r.IntN(6) {
						w.step()
					}
					l := pick(w.r, w.m.lenses...)
					if w.r.IntN(10) == 0 {
						l.lens.Forget(l.lens.head - min(l.lens.head, w.r.Uint64N(40)))
					}
					switch round {
					case 30: // a kind whose scope nobody knew turns out to be cluster-scoped
						nodes = w.addSource(nodeKind, nodesV1, ScopeCluster)
						for _, l := range w.m.lenses[1:] {
							w.watch(l, nodes)
						}
					case 50: // a second watch of a resource, then without the first
						w.watch(l, wide)
						delete(l.sources, pods)
						l.lens.Unwatch(pods)
					case 70: // a switch of version
						newer = w.addSource(podKind, podsV2, ScopeNamespaced)
						for _, l := range w.m.lenses[2:] {
							w.watch(l, newer)
							delete(l.sources, pods)
							delete(l.sources, wide)
							l.lens.Unwatch(pods)
							l.lens.Unwatch(wide)
						}
					case 90: // a kind that is no longer watched
						delete(l.uses, mapKind)
						delete(l.sources, maps)
						l.lens.Unuse(mapKind)
						l.lens.Unwatch(maps)
					case 95: // a view that no longer knows its namespaces
						delete(l.uses, NamespaceKind)
						delete(l.sources, spaces)
						l.lens.Unuse(NamespaceKind)
						l.lens.Unwatch(spaces)
					case 120: // and does again
						w.watch(l, spaces)
					case 100: // other roots
						l.rooted, l.walk = !l.rooted, Walk{Against: []ArcType{Direct}}
						l.lens.SetRoots(l.rooted, l.walk)
					case 40, 80: // another walk
						l = w.m.lenses[4]
						l.walk = w.walk()
						l.lens.SetRoots(true, l.walk)
					case 45, 65, 85: // without inferred references, and with them
						l.certain = !l.certain
						l.lens.SetInferred(!l.certain)
					case 105, 115: // nothing that anybody sees
						l.lens.Compact()
					case 110: // a source goes
						w.g.RemoveSource(maps)
						w.m.objects[maps] = nil
						delete(w.m.sources, maps)
						for _, l := range w.m.lenses {
							delete(l.sources, maps)
						}
					}
				})
				if w.r.IntN(8) == 0 {
					w.retry()
				}
				w.checkBounds()
				for _, l := range w.m.lenses {
					w.readNarrowed(l, 10)
					counts, want := l.lens.Counts(), w.m.picture(l, nil)
					if counts.Vertices != len(want.vertices) || counts.Arcs != len(want.arcs) {
						t.Fatalf("counts of %+v: %d vertices, %d arcs; want %d, %d", l.walk, counts.Vertices, counts.Arcs, len(want.vertices), len(want.arcs))
					}
					w.checkCounts(l, want)
					for i, c := range l.clients {
						switch i {
						case 0, 3: // always current
							if c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						case 1: // in small steps
							if c.read(t, l.lens, 1+w.r.IntN(10)) {
								w.check(l, c)
							}
						case 4: // in steps of few changes
							if c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						default: // seldom
							if w.r.IntN(20) == 0 && c.read(t, l.lens, 1<<20) {
								w.check(l, c)
							}
						}
					}
				}
			}
			for _, l := range w.m.lenses {
				w.readNarrowed(l, 1)
				for _, c := range l.clients {
					for !c.read(t, l.lens, 1<<20) {
					}
					w.check(l, c)
					c.set = 0
					if !c.read(t, l.lens, 1<<20) || c.set != 0 {
						t.Fatalf("a current reader was sent %d elements though nothing changed", c.set)
					}
				}
			}
			w.emptied(t)
		})
	}
}

// emptied takes everything away and wants nothing to be left.
func (w *world) emptied(t *testing.T) {
	t.Helper()
	w.update(func() {
		for id := range w.m.sources {
			w.g.RemoveSource(id)
		}
	})
	for _, l := range w.m.lenses {
		for !l.clients[0].read(t, l.lens, 1<<20) {
		}
		if s := l.clients[0].String(); s != "" {
			t.Fatalf("left in the client:\n%s", s)
		}
		w.update(l.lens.Close)
	}
	if len(w.g.named)+len(w.g.unnamed)+len(w.g.crowded) > 0 {
		t.Errorf("counts of references are left: %v, %v, %v", w.g.named, w.g.unnamed, w.g.crowded)
	}
	if diff := cmp.Diff(Size{}, w.g.Size()); diff != "" {
		t.Fatalf("left in the graph (-want +got):\n%s", diff)
	}
}
