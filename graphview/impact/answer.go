package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview/graph"
)

// maxPath bounds the steps of a path.
const maxPath = 32

// answer folds the fates into groups.
func (s *search) answer() Answer {
	a := Answer{Object: s.target, Policy: s.policy}
	keys := slices.SortedFunc(maps.Keys(s.fates), func(x, y graph.Key) int {
		f, g := s.fates[x], s.fates[y]
		return cmp.Or(cmp.Compare(g.verdict, f.verdict), cmp.Compare(f.depth, g.depth), compare(x, y))
	})
	at := map[string]int{}
	for _, key := range keys {
		f := s.fates[key]
		a.Counts[f.verdict]++
		again := s.again(key)
		signature := s.signature(key, again)
		if i, found := at[signature]; found {
			a.Groups[i].Objects = append(a.Groups[i].Objects, key)
			continue
		}
		at[signature] = len(a.Groups)
		a.Groups = append(a.Groups, Group{
			Verdict: f.verdict, Kind: s.objects[key].Kind, Objects: []graph.Key{key}, Path: s.path(key), Holds: s.holds[key], Again: again,
		})
	}
	a.Counts[Unaffected] += len(s.objects) - len(s.fates)
	return a
}

// signature is equal for objects that are told as one: of one resource, with the same verdict, the
// same reason, and held by the same.
func (s *search) signature(key graph.Key, again *graph.Key) string {
	f := s.fates[key]
	var by graph.Key
	if again != nil {
		by = *again
	}
	return fmt.Sprintf("%d %q %q %q %q %q %q %q", f.verdict, key.Group, key.Resource.Resource, f.step.Relation, f.step.To, f.step.Fields, s.holds[key], by)
}

// path leads to the object of the question.
func (s *search) path(key graph.Key) []Step {
	var path []Step
	for key != s.target && len(path) < maxPath {
		step := s.fates[key].step
		path = append(path, step)
		key = step.To
	}
	return path
}

// again returns the object that makes a deleted one again: its controller, or the object that
// applies or issues it.
func (s *search) again(key graph.Key) *graph.Key {
	if !s.deleted(key) {
		return nil
	}
	for _, l := range s.out[key] {
		if l.Type == graph.OwnerReference && l.Controller && !l.Missing && !s.deleted(l.To) && !is(l.To, "batch", "cronjobs") {
			return &l.To
		}
	}
	for _, l := range s.in[key] {
		applies := l.says("issues") || l.says("installs") && is(l.From, "kustomize.toolkit.fluxcd.io", "kustomizations")
		if _, there := s.objects[l.From]; there && applies && !s.deleted(l.From) {
			return &l.From
		}
	}
	return nil
}
