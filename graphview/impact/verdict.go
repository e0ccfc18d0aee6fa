package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
)

// Verdict is the effect on one object. A larger one is worse.
type Verdict uint8

// The verdicts.
const (
	// Unaffected: nothing happens.
	Unaffected Verdict = iota
	// LosesOptional: the target of an optional reference is lost. The object works without it.
	LosesOptional
	// CannotStart: the object works on as it is. It fails when it is started, rolled out or
	// reconciled again.
	CannotStart
	// ProbablyBreaks: the object is known to need the target by inference only, such as an address in a
	// variable. Otherwise it breaks now, or cannot start again.
	ProbablyBreaks
	// BreaksNow: its traffic, its mount or a permission is lost at once.
	BreaksNow
	// Deleted: the object is deleted as well.
	Deleted
)

var verdicts = [...]streamv1alpha1.Verdict{"unaffected", "loses an optional reference", "cannot start again", "probably breaks", "breaks now", "deleted"}

// Words returns the verdict as the API has it.
func (v Verdict) Words() streamv1alpha1.Verdict { return verdicts[v] }

// Policy is how an object is deleted, as in the DeleteOptions of Kubernetes.
type Policy string

// The policies.
const (
	// Background deletes the dependents after the object.
	Background Policy = "Background"
	// Foreground deletes the dependents first: those with blockOwnerDeletion hold the object.
	Foreground Policy = "Foreground"
	// Orphan leaves the dependents.
	Orphan Policy = "Orphan"
)

// ParsePolicy returns the policy of this name; "" is Background.
func ParsePolicy(text string) (Policy, bool) {
	switch p := Policy(text); p {
	case "":
		return Background, true
	case Background, Foreground, Orphan:
		return p, true
	default:
		return "", false
	}
}

// Question is the question of a viewer. The key of the object may lack its version.
type Question struct {
	Object graph.Key
	Policy Policy
	// ExcludeInferred leaves out the references that are only inferred.
	ExcludeInferred bool
}

// content is the type of a step from an object to its namespace, or to the CustomResourceDefinition of its kind.
// Other steps have the type of an arc.
const content streamv1alpha1.ArcType = "in"

// maxPath bounds the steps of a path.
const maxPath = 32

// answer folds the results into groups, the worst first. An unaffected object is only in a group if it refers
// to a deleted one.
func (s *search) answer() *streamv1alpha1.GraphImpact {
	a := &streamv1alpha1.GraphImpact{
		Object: s.target, PropagationPolicy: string(s.policy), Counts: map[streamv1alpha1.Verdict]int{}, Groups: []streamv1alpha1.ImpactGroup{},
	}
	for _, verdict := range verdicts {
		a.Counts[verdict] = 0
	}
	keys := slices.SortedFunc(maps.Keys(s.results), func(x, y streamv1alpha1.Key) int {
		f, g := s.results[x], s.results[y]
		return cmp.Or(cmp.Compare(g.verdict, f.verdict), cmp.Compare(f.depth, g.depth), x.Compare(y))
	})
	at := map[string]int{}
	for _, key := range keys {
		if !s.step() {
			break
		}
		f := s.results[key]
		a.Counts[f.verdict.Words()]++
		again := s.recreatedBy(key)
		signature := s.signature(key, again)
		if i, found := at[signature]; found {
			a.Groups[i].Objects = append(a.Groups[i].Objects, key)
			continue
		}
		at[signature] = len(a.Groups)
		a.Groups = append(a.Groups, streamv1alpha1.ImpactGroup{
			Verdict: f.verdict.Words(), Kind: s.objects[key].Kind, Objects: []streamv1alpha1.Key{key}, Path: s.path(key), Holds: s.holds[key], Again: again,
		})
	}
	a.Counts[Unaffected.Words()] += len(s.objects) - len(s.results)
	return a
}

// signature is equal for objects that belong in one group: of one resource, with the same verdict, the
// same reason and the same holds.
func (s *search) signature(key streamv1alpha1.Key, again *streamv1alpha1.Key) string {
	f := s.results[key]
	var by streamv1alpha1.Key
	if again != nil {
		by = *again
	}
	return fmt.Sprintf("%d %q %q %q %q %q %q %q", f.verdict, key.Group, key.Resource, f.step.Type, f.step.To, f.step.Fields, s.holds[key], by)
}

// path returns the steps from an object to the target, at most maxPath.
func (s *search) path(key streamv1alpha1.Key) []streamv1alpha1.ImpactStep {
	path := []streamv1alpha1.ImpactStep{}
	for key != s.target && len(path) < maxPath {
		step := s.results[key].step
		path = append(path, step)
		key = step.To
	}
	return path
}

// recreatedBy returns the object that creates a deleted one again: its controller, or the object that applies
// or issues it.
func (s *search) recreatedBy(key streamv1alpha1.Key) *streamv1alpha1.Key {
	if !s.deleted(key) {
		return nil
	}
	for l := range s.each(s.out[key]) {
		if l.Type == v1alpha1.ArcTypeOwnerReference && l.Controller && !l.Missing && !s.deleted(l.To) && !is(l.To, "batch", "cronjobs") {
			return &l.To
		}
	}
	for l := range s.each(s.in[key]) {
		if s.objects[l.From].Facts.Suspended {
			continue // it makes nothing
		}
		applies := l.says("issues") || l.says("installs") && is(l.From, "kustomize.toolkit.fluxcd.io", "kustomizations")
		if _, there := s.objects[l.From]; there && applies && !s.deleted(l.From) {
			return &l.From
		}
	}
	return nil
}
