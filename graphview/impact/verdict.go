package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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

var verdicts = [...]string{"unaffected", "loses an optional reference", "cannot start again", "probably breaks", "breaks now", "deleted"}

// String returns the verdict in words, as the API does.
func (v Verdict) String() string { return verdicts[v] }

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

// Relation says how one object leads to another.
type Relation string

// The relations other than the arc types or, r and t.
const (
	// Content: the object is in a namespace, or of the kind of a CustomResourceDefinition.
	Content Relation = "in"
)

// Step is one step of the path from an object to the deleted one.
type Step struct {
	From, To graph.Key
	Relation Relation
	// Fields and Words are those of the arc. Reversed: the arc leads from To to From.
	Fields, Words []string
	Reversed      bool
}

// Hold keeps a deleted object from disappearing.
type Hold struct {
	// Finalizer must be removed, if it is not empty.
	Finalizer string
	// By has the objects that must disappear first, at most maxHolders.
	By []graph.Key
}

// Group are objects with the same verdict for the same reason.
type Group struct {
	Verdict Verdict
	// Kind is that of the first object.
	Kind    string
	Objects []graph.Key
	// Path leads from the first object to the object in question.
	Path  []Step
	Holds []Hold
	// Again is the object that creates these again, nil if there is none.
	Again *graph.Key
}

// Answer is the answer to a question.
type Answer struct {
	Object graph.Key
	Policy Policy
	// Counts has the numbers of objects by verdict. They add up to all objects of the graph.
	Counts [Deleted + 1]int
	// Groups are sorted, the worst first. An unaffected object is only in a group if it refers to a
	// deleted one.
	Groups []Group
}

// maxPath bounds the steps of a path.
const maxPath = 32

// answer folds the results into groups.
func (s *search) answer() Answer {
	a := Answer{Object: s.target, Policy: s.policy}
	keys := slices.SortedFunc(maps.Keys(s.results), func(x, y graph.Key) int {
		f, g := s.results[x], s.results[y]
		return cmp.Or(cmp.Compare(g.verdict, f.verdict), cmp.Compare(f.depth, g.depth), compare(x, y))
	})
	at := map[string]int{}
	for _, key := range keys {
		if !s.step() {
			break
		}
		f := s.results[key]
		a.Counts[f.verdict]++
		again := s.recreatedBy(key)
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
	a.Counts[Unaffected] += len(s.objects) - len(s.results)
	return a
}

// signature is equal for objects that belong in one group: of one resource, with the same verdict, the
// same reason and the same holds.
func (s *search) signature(key graph.Key, again *graph.Key) string {
	f := s.results[key]
	var by graph.Key
	if again != nil {
		by = *again
	}
	return fmt.Sprintf("%d %q %q %q %q %q %q %q", f.verdict, key.Group, key.Resource.Resource, f.step.Relation, f.step.To, f.step.Fields, s.holds[key], by)
}

// path returns the steps from an object to the target, at most maxPath.
func (s *search) path(key graph.Key) []Step {
	var path []Step
	for key != s.target && len(path) < maxPath {
		step := s.results[key].step
		path = append(path, step)
		key = step.To
	}
	return path
}

// recreatedBy returns the object that creates a deleted one again: its controller, or the object that applies
// or issues it.
func (s *search) recreatedBy(key graph.Key) *graph.Key {
	if !s.deleted(key) {
		return nil
	}
	for l := range s.each(s.out[key]) {
		if l.Type == graph.OwnerReference && l.Controller && !l.Missing && !s.deleted(l.To) && !is(l.To, "batch", "cronjobs") {
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
