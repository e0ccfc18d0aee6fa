package graph

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// model is the naive twin of a Graph and its lenses: plain maps, and every
// picture computed from scratch.
type model struct {
	sources map[SourceID]modelSource
	objects map[SourceID]map[string]Object // by namespace/name
	scopes  map[Kind]Scope
	lenses  []*modelLens
	// mostOfNamespace and mostRequirements bound the arcs and requirements of selectors, and mostNamed the names in the
	// references of a namespace's objects. The selectors of an unselected object make no arcs since one of them was
	// exceeded, and the references by name of an unnamed one are left out.
	mostOfNamespace, mostRequirements, mostNamed int
	unselected, unnamed                          map[Key]bool
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
	covers  map[Kind]Coverage
	// decide is the view's selection, a function of what it sees.
	decide   func(Key, Object) Selection
	narrowed []*narrowClient
	clients  []*client
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

func (m *model) kindOf(r Resource) Kind {
	for _, s := range m.sources {
		if s.resource == r {
			return s.kind
		}
	}
	return Kind{}
}

// picture is what a lens shows to a reader.
func (m *model) picture(l *modelLens, how Reading) picture {
	allowed := func(k Key) bool { return how.Allow == nil || how.Allow(k.Resource, k.Namespace) }
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
		uid                          string
		// The causes of an arc: a declared reference or selector, an inferred reference, labels of
		// its target's namespace.
		declared, guessed, labelled bool
		asked                       bool // a reference names the target
		fields, byNamespaceLabel    []string
	}
	arcs := map[link]*attributes{}
	for from, o := range members {
		for _, r := range o.References {
			if r.Selector != nil && m.unselected[from] || r.Name != "" && m.unnamed[from] {
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
				a.declared = a.declared || a.named || r.Name == "" && r.Namespaces == nil
				a.guessed = a.guessed || r.Name != "" && r.Inferred
				a.labelled = a.labelled || r.Namespaces != nil
				a.required = a.required || r.Name != "" && !r.Optional && !r.Inferred
				if r.Name != "" && r.UID != "" {
					a.uid = r.UID
				}
				switch {
				case r.Namespaces != nil:
					a.byNamespaceLabel = append(a.byNamespaceLabel, r.Field)
				case r.Field != "":
					a.fields = append(a.fields, r.Field)
				}
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
	maps.DeleteFunc(arcs, func(a link, at *attributes) bool {
		at.asked = at.named || at.guessed
		at.guessed = at.guessed && !l.certain && (at.found || m.outside(l, a.to, at.uid) == Elsewhere)
		return !at.asked && !at.declared && !at.labelled
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
			if !at.found || !at.declared && !at.guessed && !at.labelled {
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
	p.absent, p.links = map[Key]int{}, map[string]naiveLink{}
	for a, at := range arcs {
		if !visible[a.from] || at.found || !at.asked {
			continue
		}
		p.absent[Key{Resource: a.to.Resource, Namespace: a.to.Namespace}]++
		if at.required && a.typ == Direct && m.outside(l, a.to, at.uid) == Nowhere {
			p.missing++
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
		plain := at.declared || at.guessed
		labelled := at.labelled && allowed(Key{Resource: namespacesV1})
		if visible[a.from] && allowed(a.from) && allowed(a.to) && (plain || labelled) {
			var fields []string
			if plain {
				fields = at.fields
			}
			if !at.declared && labelled {
				// No other declared reference makes it for this reader.
				fields = slices.Concat(fields, at.byNamespaceLabel)
			}
			optional := at.named || at.guessed && (!at.declared || !at.found)
			attributes := fmt.Sprint(at.c, at.b, a.typ != OwnerReference && !at.required && optional, told(fields, at.found || !at.named))
			if !at.found {
				attributes += fmt.Sprint(" missing ", m.outside(l, a.to, at.uid))
			}
			p.setArc(a.from, a.to, a.typ, attributes)
			p.links[arcName(a.from, a.to, a.typ)] = naiveLink{a.from, a.to, a.typ, at.found}
		}
	}
	return p
}

// holds reports whether a source sees the object.
func (m *model) holds(k Key) bool {
	for id, src := range m.sources {
		if _, ok := m.objects[id][k.Namespace+"/"+k.Name]; ok && src.resource == k.Resource {
			return true
		}
	}
	return false
}

// told is what an arc's fields are for subscribers: at most maxFields, declared ones rather than
// inferred ones, and in order.
func told(fields []string, found bool) []string {
	var declared, inferred []string
	for _, field := range slices.Compact(slices.Sorted(slices.Values(fields))) {
		if !strings.HasPrefix(field, "inferred/") {
			declared = append(declared, field)
		} else if found {
			inferred = append(inferred, field)
		}
	}
	some := slices.Concat(declared, inferred)
	return slices.Sorted(slices.Values(some[:min(len(some), maxFields)]))
}
