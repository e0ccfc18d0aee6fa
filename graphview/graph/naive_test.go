package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
)

// model is the naive twin of a Graph and its lenses: plain maps, and every
// picture computed from scratch.
type model struct {
	sources map[SourceID]modelSource
	objects map[SourceID]map[string]Object // by namespace/name
	scopes  map[Kind]Scope
	lenses  []*modelLens
	// mostOfObject and mostOfNamespace are the bounds of what selectors make, and
	// dropped says for which of them an object's make nothing; see bounds.
	mostOfObject, mostOfNamespace, mostRequirements int
	dropped                                         map[Key]*budget.Bound
	// mostNamed bounds what the references of a namespace's objects name, and unnamed
	// are the objects whose references are left out since that was exceeded.
	mostNamed int
	unnamed   map[Key]bool
	leftOut   map[Key]int // how much they name
}

type modelSource struct {
	kind     Kind
	resource Resource
}

type modelLens struct {
	lens    *Lens
	sources map[SourceID]bool
	uses    map[Kind]Resource
	rooted  bool
	walk    Walk
	certain bool // without inferred references
	// decide is the view's selection, a function of what it sees.
	decide   func(Key, Object) Selection
	narrowed []*narrowClient
	clients  []*client
}

// picture is what a lens shows, or a client has: vertices with their content,
// arcs with their attributes.
type picture struct {
	vertices map[Key]string
	arcs     map[string]string
	out      map[Key]map[string]bool
	// missing are required references to what is not there, by place.
	missing map[Key]int
	links   map[string]naiveLink // of a naive picture
}

// naiveLink is an arc, found if it leads to something.
type naiveLink struct {
	from, to Key
	typ      ArcType
	found    bool
}

func newPicture() picture {
	return picture{vertices: map[Key]string{}, arcs: map[string]string{}, out: map[Key]map[string]bool{}}
}

func arcName(from, to Key, t ArcType) string { return fmt.Sprintf("%v -%v-> %v", from, t, to) }

func (p picture) setArc(from, to Key, t ArcType, attributes string) {
	name := arcName(from, to, t)
	p.arcs[name] = attributes
	if p.out[from] == nil {
		p.out[from] = map[string]bool{}
	}
	p.out[from][name] = true
}

func (p picture) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(func(yield func(string) bool) {
		for k, v := range p.vertices {
			if !yield(fmt.Sprint(k, " ", v)) {
				return
			}
		}
	}) {
		fmt.Fprintln(&b, k)
	}
	for _, k := range slices.Sorted(maps.Keys(p.arcs)) {
		fmt.Fprintln(&b, k, p.arcs[k])
	}
	return b.String()
}

// merged is what all of a lens's sources see, one object for each key.
func (m *model) merged(l *modelLens) map[Key]Object {
	all := map[Key]Object{}
	for id := range l.sources {
		for _, o := range m.objects[id] {
			all[Key{m.sources[id].resource, o.Namespace, o.Name}] = o
		}
	}
	return all
}

// bounds finds out whose selectors match more than is allowed.
func (m *model) bounds() {
	m.dropped = map[Key]*budget.Bound{}
	slots, all := map[Kind]map[string]Object{}, map[Key]Object{}
	for id, src := range m.sources {
		if slots[src.kind] == nil {
			slots[src.kind] = map[string]Object{}
		}
		for name, o := range m.objects[id] {
			slots[src.kind][name] = o
			all[Key{src.resource, o.Namespace, o.Name}] = o
		}
	}
	type holder struct {
		key     Key
		matches int
	}
	spaces := map[string][]holder{}
	for key, o := range all {
		type match struct {
			typ  ArcType
			to   Kind
			name string
		}
		matches := map[match]bool{}
		for _, r := range o.References {
			if r.Selector == nil {
				continue
			}
			for name, target := range slots[r.To] {
				if !r.AllNamespaces && target.Namespace != r.Namespace || !r.Selector.Matches(target.Labels) {
					continue
				}
				if r.Namespaces != nil {
					site, ok := slots[NamespaceKind]["/"+target.Namespace]
					if !ok || target.Namespace == "" || !r.Namespaces.Matches(site.Labels) {
						continue
					}
				}
				matches[match{r.Type, r.To, name}] = true
			}
		}
		switch {
		case requirements(o.References) > m.mostRequirements:
			m.dropped[key] = requirementsOfObject
		case len(matches) > m.mostOfObject:
			m.dropped[key] = arcsOfObject
		case len(matches) > 0:
			spaces[o.Namespace] = append(spaces[o.Namespace], holder{key, len(matches)})
		}
	}
	for _, holders := range spaces {
		slices.SortFunc(holders, func(a, b holder) int {
			return cmp.Or(cmp.Compare(a.matches, b.matches), cmp.Compare(a.key.Resource.Resource, b.key.Resource.Resource),
				cmp.Compare(a.key.Name, b.key.Name), cmp.Compare(a.key.Version, b.key.Version))
		})
		total := 0
		for _, h := range holders {
			if total += h.matches; total > m.mostOfNamespace {
				m.dropped[h.key] = arcsOfNamespace
			}
		}
	}
}

// requirements counts those that have to be compared with one object at most: for
// each kind the selectors that ask for no value, and for each label the value that
// most of the others are looked up by.
func requirements(references []Reference) int {
	type label struct {
		kind       Kind
		ofSite     bool
		key, value string
	}
	weights, unasked := map[label]int{}, map[Kind]int{}
	lightest := func(kind Kind, ofSite bool, sel *Selector) (best []label) {
		least := -1
		for _, r := range sel.Requirements {
			if r.Op != In {
				continue
			}
			var labels []label
			heaviest := 0
			for _, v := range r.Values {
				l := label{kind, ofSite, r.Key, v}
				labels, heaviest = append(labels, l), max(heaviest, weights[l])
			}
			if least < 0 || heaviest < least {
				best, least = labels, heaviest
			}
		}
		return best
	}
	for _, r := range references {
		if r.Selector == nil {
			continue
		}
		weight := len(r.Selector.Requirements)
		found := lightest(r.To, false, r.Selector)
		if r.Namespaces != nil {
			if weight += len(r.Namespaces.Requirements); found == nil {
				found = lightest(r.To, true, r.Namespaces)
			}
		}
		slices.SortFunc(found, func(a, b label) int { return cmp.Compare(a.value, b.value) })
		for _, l := range slices.Compact(found) {
			weights[l] += max(1, weight)
		}
		if found == nil {
			unasked[r.To] += max(1, weight)
		}
	}
	heaviest, total := map[label]int{}, unasked
	for l, w := range weights {
		l.value = ""
		heaviest[l] = max(heaviest[l], w)
	}
	for l, w := range heaviest {
		total[l.kind] += w
	}
	most := 0
	for _, w := range total {
		most = max(most, w)
	}
	return most
}

// countNames counts what references name.
func countNames(references []Reference) int {
	type target struct {
		typ  ArcType
		to   Kind
		name string
	}
	targets := map[target]bool{}
	for _, r := range references {
		if r.Name != "" {
			targets[target{r.Type, r.To, r.Name}] = true
		}
	}
	return len(targets)
}

// byNames are the objects of each namespace whose references name something, those
// first that name least, and how much the ones name that are not left out.
func (m *model) byNames() (objects map[string][]Key, names map[Key]int, totals map[string]int) {
	objects, names, totals = map[string][]Key{}, map[Key]int{}, map[string]int{}
	for id, src := range m.sources {
		for _, o := range m.objects[id] {
			k := Key{src.resource, o.Namespace, o.Name}
			n := countNames(o.References)
			if _, seen := names[k]; seen || n == 0 {
				continue
			}
			names[k] = n
			objects[k.Namespace] = append(objects[k.Namespace], k)
			if !m.unnamed[k] {
				totals[k.Namespace] += n
			}
		}
	}
	for _, keys := range objects {
		slices.SortFunc(keys, func(a, b Key) int {
			return cmp.Or(cmp.Compare(names[a], names[b]), cmp.Compare(a.Resource.Resource, b.Resource.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
		})
	}
	return objects, names, totals
}

// leaveOut leaves out the references of those that name most where they are too many.
func (m *model) leaveOut() {
	objects, names, totals := m.byNames()
	maps.DeleteFunc(m.unnamed, func(k Key, _ bool) bool { return names[k] == 0 })
	for space, keys := range objects {
		for _, k := range slices.Backward(keys) {
			if totals[space] > m.mostNamed && !m.unnamed[k] {
				totals[space] -= names[k]
				m.unnamed[k], m.leftOut[k] = true, names[k]
			}
		}
	}
}

// readAgain tells what becomes of an object that changes and whose references are left
// out: they still are if it names no less and there is no room.
func (m *model) readAgain(k Key, o Object) {
	_, _, totals := m.byNames()
	if n := countNames(o.References); m.unnamed[k] && n >= m.leftOut[k] && totals[k.Namespace]+n > m.mostNamed {
		m.leftOut[k] = n
		return
	}
	delete(m.unnamed, k)
}

// forget takes in that a source no longer sees an object.
func (m *model) forget(k Key) {
	for id, src := range m.sources {
		if _, ok := m.objects[id][k.Namespace+"/"+k.Name]; ok && src.resource == k.Resource {
			return
		}
	}
	delete(m.unnamed, k)
}

// room is whose references were left out and have room.
func (m *model) room() []Key {
	var found []Key
	objects, names, totals := m.byNames()
	for space, keys := range objects {
		for _, k := range keys {
			if !m.unnamed[k] {
				continue
			}
			if totals[space] += names[k]; totals[space] > m.mostNamed {
				break
			}
			found = append(found, k)
		}
	}
	return found
}

func (m *model) kindOf(r Resource) Kind {
	for _, s := range m.sources {
		if s.resource == r {
			return s.kind
		}
	}
	return Kind{}
}

// picture is what a lens shows to a reader.
func (m *model) picture(l *modelLens, allow func(Resource, string) bool) picture {
	allowed := func(k Key) bool { return allow == nil || allow(k.Resource, k.Namespace) }
	members, roots := map[Key]Object{}, map[Key]bool{}
	for k, o := range m.merged(l) {
		if l.uses[m.kindOf(k.Resource)] != k.Resource {
			continue
		}
		if s := l.decide(k, o); s.Member {
			members[k] = o
			roots[k] = s.Root
		}
	}
	type link struct {
		from, to Key
		typ      ArcType
	}
	type attributes struct {
		c, b, found, named, required bool
		selected                     bool
		// plain: something makes it other than labels of its target's namespace.
		plain                    bool
		fields, byNamespaceLabel []string
	}
	arcs := map[link]*attributes{}
	for from, o := range members {
		for _, r := range o.References {
			if r.Selector != nil && m.dropped[from] != nil || r.Name != "" && m.unnamed[from] {
				continue
			}
			res, ok := l.uses[r.To]
			if !ok {
				continue
			}
			add := func(to Key, found bool) *attributes {
				a := arcs[link{from, to, r.Type}]
				if a == nil {
					a = &attributes{}
					arcs[link{from, to, r.Type}] = a
				}
				a.c = a.c || r.Controller
				a.b = a.b || r.BlockOwnerDeletion
				a.found = a.found || found
				a.named = a.named || r.Name != "" && !r.Inferred
				a.selected = a.selected || r.Name == ""
				a.required = a.required || r.Name != "" && r.Type == Direct && !r.Optional && !r.Inferred
				switch {
				case r.Namespaces != nil:
					a.byNamespaceLabel = append(a.byNamespaceLabel, r.Field)
				case r.Field != "":
					a.fields = append(a.fields, r.Field)
				}
				a.plain = a.plain || r.Namespaces == nil
				return a
			}
			if r.Name != "" {
				to := Key{Resource: res, Namespace: r.Namespace, Name: r.Name}
				if r.Scope == ScopeCluster || r.Scope == ScopeUnknown && m.scopes[r.To] == ScopeCluster {
					to.Namespace = ""
				}
				if to.Namespace == "" && m.scopes[r.To] == ScopeNamespaced {
					continue // there is no such place
				}
				target, ok := members[to]
				add(to, ok && (r.UID == "" || r.UID == target.UID))
				continue
			}
			for to, target := range members {
				if to.Resource != res || !r.AllNamespaces && to.Namespace != r.Namespace || !r.Selector.Matches(target.Labels) {
					continue
				}
				if r.Namespaces != nil {
					site, ok := members[Key{Resource: l.uses[NamespaceKind], Name: to.Namespace}]
					if !ok || to.Namespace == "" || !r.Namespaces.Matches(site.Labels) {
						continue
					}
				}
				add(to, true)
			}
		}
	}
	maps.DeleteFunc(arcs, func(_ link, at *attributes) bool {
		return !at.named && !at.selected && (l.certain || !at.found)
	})
	// distance is in arcs from the nearest root.
	distance := map[Key]int{}
	for k := range members {
		if !l.rooted || roots[k] {
			distance[k] = 0
		}
	}
	step := func(from, to Key) bool {
		d, ok := distance[from]
		if !ok || l.walk.Depth > 0 && d == l.walk.Depth {
			return false
		}
		if now, ok := distance[to]; ok && now <= d+1 {
			return false
		}
		distance[to] = d + 1
		return true
	}
	for again := true; again; {
		again = false
		for a, at := range arcs {
			if !at.found {
				continue
			}
			downs, ups := l.walk.Direction == Down || l.walk.Direction == Both, l.walk.Direction == Up || l.walk.Direction == Both
			if len(l.walk.Types) > 0 && !slices.Contains(l.walk.Types, a.typ) {
				downs, ups = false, false
			}
			user, used := a.from, a.to
			if a.typ == OwnerReference {
				user, used = a.to, a.from
			}
			switch {
			case l.walk.Direction == Forward:
				again = step(a.from, a.to) || again
				again = slices.Contains(l.walk.Against, a.typ) && step(a.to, a.from) || again
			default:
				again = downs && step(user, used) || again
				again = ups && step(used, user) || again
			}
		}
	}
	visible := map[Key]bool{}
	for k := range distance {
		visible[k] = true
	}
	p := newPicture()
	p.missing, p.links = map[Key]int{}, map[string]naiveLink{}
	for a, at := range arcs {
		if visible[a.from] && at.required && !at.found {
			p.missing[Key{Resource: a.to.Resource, Namespace: a.to.Namespace}]++
		}
	}
	for k, o := range members {
		if visible[k] && allowed(k) {
			p.vertices[k] = strconv.FormatUint(l.decide(k, o).Hash, 10)
		}
	}
	for a, at := range arcs {
		if at.found && !visible[a.to] {
			continue
		}
		if visible[a.from] && allowed(a.from) && allowed(a.to) && (at.plain || allowed(Key{Resource: namespacesV1})) {
			fields := at.fields
			if !at.plain {
				fields = at.byNamespaceLabel
			}
			slices.Sort(fields)
			fields = slices.Compact(fields)
			p.setArc(a.from, a.to, a.typ, fmt.Sprint(at.c, at.b, !at.found, fields[:min(len(fields), maxFields)]))
			p.links[arcName(a.from, a.to, a.typ)] = naiveLink{a.from, a.to, a.typ, at.found}
		}
	}
	return p
}

// client is a reader that applies what it is given, and complains where the
// order is not the promised one.
type client struct {
	pos Position
	picture
	allow func(Resource, string) bool
	most  int // changes after which it has enough; 0: never
	set   int // how many elements were set since the last complete picture
}

func (c *client) read(t *testing.T, l *Lens, limit int) bool {
	t.Helper()
	done, err := l.Read(&c.pos, limit, c.allow, c.take(t))
	if err != nil {
		*c = client{picture: newPicture(), allow: c.allow, most: c.most}
		return false
	}
	return done
}

// take applies what a read tells.
func (c *client) take(t *testing.T) func(Change) bool {
	t.Helper()
	taken := 0
	return func(ch Change) bool {
		taken++
		switch ch.Op {
		case SetVertex:
			c.set++
			c.vertices[ch.Vertex] = fmt.Sprint(ch.Payload)
		case DeleteVertex:
			if len(c.out[ch.Vertex]) > 0 {
				t.Fatalf("%v deleted before its arcs %v", ch.Vertex, c.out[ch.Vertex])
			}
			delete(c.vertices, ch.Vertex)
		case SetArc:
			c.set++
			if _, ok := c.vertices[ch.Vertex]; !ok {
				t.Fatalf("arc %v set before its source", arcName(ch.Vertex, ch.To, ch.Type))
			}
			c.setArc(ch.Vertex, ch.To, ch.Type, fmt.Sprint(ch.Controller, ch.BlockOwnerDeletion, ch.Missing, ch.Fields))
		case DeleteArc:
			name := arcName(ch.Vertex, ch.To, ch.Type)
			delete(c.arcs, name)
			delete(c.out[ch.Vertex], name)
		}
		return c.most == 0 || taken < c.most
	}
}

// holds tells whether a source sees the object.
func (m *model) holds(k Key) bool {
	for id, src := range m.sources {
		if _, ok := m.objects[id][k.Namespace+"/"+k.Name]; ok && src.resource == k.Resource {
			return true
		}
	}
	return false
}
