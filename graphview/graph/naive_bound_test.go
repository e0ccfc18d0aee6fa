package graph

import (
	"cmp"
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

// countNamed counts what the references of each namespace's objects name, without those that are left out.
func (m *model) countNamed() map[string]int {
	counted, totals := map[Key]bool{}, map[string]int{}
	for id, src := range m.sources {
		for _, o := range m.objects[id] {
			if k := (Key{src.resource, o.Namespace, o.Name}); !counted[k] && !m.unnamed[k] {
				counted[k] = true
				totals[k.Namespace] += countNames(o.References)
			}
		}
	}
	return totals
}
