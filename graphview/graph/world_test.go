package graph

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	// pictures are what lenses show since the last update, to readers who may see all
	// and to those without Namespaces.
	pictures map[*modelLens][2]*picture
	// waiting are the objects whose labels and references wait.
	waiting map[waitingObject]bool
}

// waitingObject is an object of a source.
type waitingObject struct {
	source SourceID
	name   string // with the namespace
}

// picture is the model's of a lens, worked out once for each update, for readers who may
// see everything or all but Namespaces.
func (w *world) picture(l *modelLens, how Reading) picture {
	which := 0
	if how.Allow != nil {
		which++
	}
	known := w.pictures[l]
	if known[which] == nil {
		p := w.m.picture(l, how)
		known[which] = &p
		w.pictures[l] = known
	}
	return *known[which]
}

var (
	podKind, nodeKind, mapKind = Kind{"", "Pod"}, Kind{"", "Node"}, Kind{"", "ConfigMap"}
	podsV1                     = Resource{"", "v1", "pods"}
	podsV2                     = Resource{"", "v2", "pods"}
	nodesV1                    = Resource{"", "v1", "nodes"}
	mapsV1                     = Resource{"", "v1", "configmaps"}
	namespacesV1               = Resource{"", "v1", "namespaces"}
)

// watched has a lens watch a new source of a kind, and use the kind under the source's resource. In
// Update.
func watched(l *Lens, kind Kind, resource Resource, scope Scope) SourceID {
	source := l.g.AddSource(kind, resource, scope)
	l.Watch(source)
	l.Use(kind, resource)
	return source
}

// newPods returns a graph and a lens that watches a source of Pods.
func newPods() (g *Graph, l *Lens, source SourceID) {
	g = New(nil)
	g.Update(func() {
		l = g.NewLens()
		source = watched(l, podKind, podsV1, ScopeNamespaced)
	})
	return g, l, source
}

// drain makes revisions until nothing is left to be done.
func (g *Graph) drain() {
	for g.HasCleanup() {
		g.Update(func() {})
	}
}

// withoutNamespaces allows a reader all but what says how namespaces are labelled.
func withoutNamespaces(r Resource, _ string) bool { return r != namespacesV1 }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), g: New(nil), exceed: map[Key]*budget.Bound{}, waiting: map[waitingObject]bool{}}
	if seed%3 == 0 {
		w.g.span = 200 // so that stamps wrap around now and then
	}
	w.m = &model{
		sources: map[SourceID]modelSource{}, objects: map[SourceID]map[string]Object{}, scopes: map[Kind]Scope{},
		mostOfNamespace: math.MaxInt, mostRequirements: w.g.mostRequirements,
		mostNamed: math.MaxInt, unnamed: map[Key]bool{}, unselected: map[Key]bool{},
	}
	if seed%4 < 2 {
		w.m.mostRequirements, w.g.mostRequirements = 2, 2
	}
	if seed%2 == 0 { // bounds that are exceeded, and not, all the time
		w.m.mostOfNamespace = 16
	}
	if seed%3 < 2 {
		w.m.mostNamed = 20
	}
	w.g.limit(w.m.mostNamed, w.m.mostOfNamespace)
	if seed%4 > 0 { // so that hubs and slices are small enough to be there, and lenses are late
		w.g.sliceChanges, w.g.commitVisits, w.g.arcsAtOnce = 3, int(seed%5)*20, 1+int(seed%7)
		w.g.largeChange = int(seed % 6)
	}
	return w
}

// update makes a revision, and then further ones until nothing is pending, except that lenses may be late.
func (w *world) update(fn func()) {
	w.g.Update(fn)
	w.exceedances()
	for len(w.g.cleanups) > 0 || w.g.HasOpenUpdate() || len(w.waiting) > 0 || len(w.g.Late()) > 0 && w.r.IntN(3) > 0 {
		w.g.Update(w.meanwhile)
		w.exceedances()
	}
	w.leftOut()
	w.pictures = make(map[*modelLens][2]*picture)
}

// meanwhile sets an object that waits, or changes another one while the arcs of such an object are made.
func (w *world) meanwhile() {
	switch {
	case w.g.HasOpenUpdate():
	case w.g.HasSharedUpdate():
		if w.r.IntN(3) > 0 {
			w.step()
		}
	case len(w.waiting) > 0:
		of := slices.MinFunc(slices.Collect(maps.Keys(w.waiting)), func(a, b waitingObject) int {
			return cmp.Or(cmp.Compare(a.source, b.source), strings.Compare(a.name, b.name))
		})
		delete(w.waiting, of)
		if o, ok := w.m.objects[of.source][of.name]; ok {
			w.setAs(of.source, o, Unhurried)
		}
	}
}

// drain makes revisions until no lens is late.
func (w *world) drain() {
	for w.g.HasCleanup() {
		w.g.Update(func() {})
		w.exceedances()
	}
}

func (w *world) addSource(kind Kind, resource Resource, scope Scope) SourceID {
	id := w.g.AddSource(kind, resource, scope)
	w.m.sources[id] = modelSource{kind, resource}
	w.m.objects[id] = map[string]Object{}
	w.m.scopes[kind] = scope
	return id
}

// set has a source see an object, and lenses decide about it. It takes in the bound that the graph has
// reported of the object, if it has reported one: the graph does not report the bound again.
func (w *world) set(id SourceID, o Object) { w.setAs(id, o, pick(w.r, AtOnce, MayWait, Unhurried)) }

func (w *world) setAs(id SourceID, o Object, urgency Urgency) {
	w.m.objects[id][o.Namespace+"/"+o.Name] = o
	o.Urgency = urgency
	key, n := Key{w.m.sources[id].resource, o.Namespace, o.Name}, w.g.Set(id, &o)
	w.tell(key, w.g.Exceeded(n))
	if of := (waitingObject{id, o.Namespace + "/" + o.Name}); w.g.Awaits(n) {
		w.waiting[of] = true
	}
	for _, l := range w.m.lenses {
		if l.sources[id] {
			l.lens.Select(n, l.decide(key, o))
		}
	}
}

// remove has a source no longer see an object.
func (w *world) remove(id SourceID, ns, name string) {
	w.g.Remove(id, ns, name)
	delete(w.m.objects[id], ns+"/"+name)
	w.forget()
}

func (w *world) addLens(rooted bool, walk Walk) *modelLens {
	salt := w.r.Uint64()
	l := &modelLens{lens: w.g.NewLens(), sources: map[SourceID]bool{}, uses: map[Kind]Resource{}, covers: map[Kind]Coverage{}, rooted: rooted, walk: walk}
	l.decide = func(_ Key, o Object) Selection {
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
	for _, c := range []client{
		{how: Reading{Allow: withoutNamespaces}}, {most: 5},
	} {
		c.picture = newPicture()
		l.clients = append(l.clients, &c)
	}
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

// cover changes which objects of a kind a view selects.
func (w *world) cover(l *modelLens) {
	kind := pick(w.r, podKind, nodeKind, mapKind, NamespaceKind)
	c := Coverage{
		Unknown: w.r.IntN(4) == 0, Selective: w.r.IntN(2) == 0,
		Namespaces: pick(w.r, nil, map[string]bool{"red": true}, map[string]bool{}),
	}
	if l.lens.Cover(kind, c); l.uses[kind] != (Resource{}) {
		l.covers[kind] = c
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
		if ref.Type == OwnerReference {
			ref.Field = ""
		}
		if ref.Inferred && ref.Name != "" && ref.Field != "" {
			ref.Field = InferredField + ref.Field
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
