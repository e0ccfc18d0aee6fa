package graph

import (
	"cmp"
	"maps"
	"slices"

	"graphview.dev/graphview/budget"
)

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
				m.dropped[h.key] = budget.HeldBytes
			}
		}
	}
}

// requirements returns the most requirements that have to be compared with one object: for each
// kind the selectors that ask for no value, and for each label the value that most of the others
// are looked up by.
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

// leaveOut leaves out the references of the objects with most names in a namespace beyond the
// bound.
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
