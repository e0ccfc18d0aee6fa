package impact

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
)

// result is the result of the search for one object.
type result struct {
	verdict Verdict
	// step is the first step of the path to the target. The target has none.
	step  streamv1alpha1.ImpactStep
	depth int
	// pruned: an installer of releases deletes the object.
	pruned bool
}

// ErrNotFound: the graph lacks the object of the question.
var ErrNotFound = errors.New("the object is not in the graph")

// search answers one question. Its steps are at most proportional to the objects and arcs of the graph.
type search struct {
	*Graph

	// ctx ends the search: step reports false.
	ctx   context.Context //nolint:containedctx // a search is one call of Of
	steps int             // that the search has taken
	err   error           // of ctx

	target  streamv1alpha1.Key
	policy  Policy
	results map[streamv1alpha1.Key]*result
	// order has the deleted objects, each after its cause.
	order []streamv1alpha1.Key
	// owners counts the first owners of an object that the search knows to be deleted.
	owners map[streamv1alpha1.Key]int
	// namespaces and resources have the objects by namespace, and by name of a
	// CustomResourceDefinition. They are nil until a namespace or such a definition is deleted.
	namespaces, resources map[string][]streamv1alpha1.Key
	// broken has the objects with BreaksNow whose referrers are not judged yet.
	broken []streamv1alpha1.Key
	held   map[streamv1alpha1.Key]bool
	holds  map[streamv1alpha1.Key][]streamv1alpha1.ImpactHold
}

func newSearch(ctx context.Context, g *Graph, object streamv1alpha1.Key, policy Policy) *search {
	return &search{
		Graph: g, ctx: ctx, target: object, policy: policy,
		results: map[streamv1alpha1.Key]*result{}, owners: map[streamv1alpha1.Key]int{}, held: map[streamv1alpha1.Key]bool{}, holds: map[streamv1alpha1.Key][]streamv1alpha1.ImpactHold{},
	}
}

// Of returns the effects of the deletion of an object in the graph. The error is ErrNotFound or that of ctx.
func (g *Graph) Of(ctx context.Context, object streamv1alpha1.Key, policy Policy) (*streamv1alpha1.GraphImpact, error) {
	object, ok := g.Find(object)
	if !ok {
		return nil, ErrNotFound
	}
	g.index()
	return newSearch(ctx, g, object, policy).run()
}

func (s *search) run() (*streamv1alpha1.GraphImpact, error) {
	s.delete(s.target, &result{verdict: Deleted})
	for next := 0; next < len(s.order) && s.step(); next++ { // follow appends to it
		s.follow(s.order[next])
	}
	s.affect()
	s.hold()
	a := s.answer()
	return a, s.err
}

// stepsPerCheck is the number of steps between two looks at the context.
const stepsPerCheck = 1024

// step counts a step of the search. It reports whether the search goes on.
func (s *search) step() bool {
	if s.steps++; s.steps%stepsPerCheck == 0 && s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// each yields links of an object. Each is a step.
func (s *search) each(links []link) iter.Seq[*link] {
	return func(yield func(*link) bool) {
		for i := range links {
			if !s.step() || !yield(&links[i]) {
				return
			}
		}
	}
}

// deleted reports whether an object is deleted.
func (s *search) deleted(key streamv1alpha1.Key) bool {
	f := s.results[key]
	return f != nil && f.verdict == Deleted
}

func (s *search) delete(key streamv1alpha1.Key, f *result) {
	if _, there := s.objects[key]; there && !s.deleted(key) {
		s.results[key] = f
		s.order = append(s.order, key)
	}
}

// deletedWith returns the result for an object that is deleted because of another.
func (s *search) deletedWith(key, cause streamv1alpha1.Key, step streamv1alpha1.ImpactStep) *result {
	step.From, step.To = key, cause
	return &result{verdict: Deleted, step: step, depth: s.results[cause].depth + 1}
}

// follow deletes the objects that are deleted together with a deleted one.
func (s *search) follow(key streamv1alpha1.Key) {
	for _, k := range s.contentOf(key) {
		if !s.step() {
			return
		}
		s.delete(k, s.deletedWith(k, key, streamv1alpha1.ImpactStep{Type: content}))
	}
	for l := range s.each(s.in[key]) {
		switch {
		case l.Missing:
		case l.Type == v1alpha1.ArcTypeOwnerReference && s.collected(l), l.Type != v1alpha1.ArcTypeOwnerReference && s.deletedByController(l):
			s.delete(l.From, s.deletedWith(l.From, key, stepOf(l, false)))
		}
	}
	f := s.results[key]
	if !f.pruned && !s.objects[key].Facts.Prunes || is(key, "", "persistentvolumes") {
		return
	}
	for l := range s.each(s.out[key]) {
		if l.Missing || s.objects[l.To].Facts.Kept || !installs(l) {
			continue
		}
		gone := s.deletedWith(l.To, key, stepOf(l, true))
		// Helm deletes the objects of the release.
		gone.pruned = is(l.To, "", "secrets") && is(key, "helm.toolkit.fluxcd.io", "helmreleases")
		s.delete(l.To, gone)
	}
}

// contentOf returns the objects in a namespace or of a kind.
func (s *search) contentOf(key streamv1alpha1.Key) []streamv1alpha1.Key {
	switch {
	case is(key, "", "namespaces"):
		if s.namespaces == nil {
			s.namespaces = s.group(func(k streamv1alpha1.Key) string { return k.Namespace })
		}
		return s.namespaces[key.Name]
	case is(key, "apiextensions.k8s.io", "customresourcedefinitions"):
		if s.resources == nil {
			s.resources = s.group(func(k streamv1alpha1.Key) string { return k.Resource + "." + k.Group })
		}
		return s.resources[key.Name]
	default:
		return nil
	}
}

// group returns all objects by a name, in order.
func (s *search) group(by func(streamv1alpha1.Key) string) map[string][]streamv1alpha1.Key {
	groups := map[string][]streamv1alpha1.Key{}
	for _, k := range slices.SortedFunc(maps.Keys(s.objects), streamv1alpha1.Key.Compare) {
		if !s.step() {
			break
		}
		groups[by(k)] = append(groups[by(k)], k)
	}
	return groups
}

// collected reports whether the garbage collector deletes a dependent: no owner is left, and the
// dependent is not orphaned. An owner outside the graph counts as left.
func (s *search) collected(l *link) bool {
	if s.policy == Orphan && l.To == s.target || l.From.Namespace == "" && l.To.Namespace != "" {
		return false
	}
	// A deleted owner stays deleted, so each owner of an object is passed once.
	for owner := range s.each(s.out[l.From][s.owners[l.From]:]) {
		switch {
		case owner.Type != v1alpha1.ArcTypeOwnerReference:
		case owner.Missing && owner.Outside != "", !owner.Missing && (!s.deleted(owner.To) || s.policy == Orphan && owner.To == s.target):
			return false
		}
		s.owners[l.From]++
	}
	return true
}

// deletedByController reports whether a controller of Kubernetes deletes an object together with the target
// of its reference, without an owner reference.
func (s *search) deletedByController(l *link) bool {
	from, to := l.From, l.To
	switch {
	case is(to, "", "services"):
		return is(from, "", "endpoints") && l.has("metadata.name") || is(from, "networking.k8s.io", "ipaddresses")
	case is(to, "", "nodes"):
		return is(from, "", "pods") && l.has("spec.nodeName")
	case is(to, "", "persistentvolumeclaims"):
		return is(from, "", "persistentvolumes") && s.objects[from].Facts.Prunes
	case is(to, "operators.coreos.com", "clusterserviceversions"):
		return l.has("metadata.labels['olm.owner']")
	case is(to, "", "serviceaccounts"):
		return is(from, "", "secrets") && l.says("is a token of")
	default:
		return false
	}
}

// installs reports whether an installer manages the target.
func installs(l *link) bool {
	return l.says("installs") || is(l.From, "helm.toolkit.fluxcd.io", "helmreleases") &&
		slices.ContainsFunc(l.Fields, func(field string) bool {
			return strings.HasPrefix(field, "status.history") || strings.HasPrefix(field, "status.helmChart")
		})
}

func (l *link) says(word string) bool { return slices.Contains(l.Words, word) }

func (l *link) has(field string) bool { return slices.Contains(l.Fields, field) }

func stepOf(l *link, reversed bool) streamv1alpha1.ImpactStep {
	return streamv1alpha1.ImpactStep{Type: l.Type, Fields: l.Fields, Words: l.Words, Reversed: reversed}
}
