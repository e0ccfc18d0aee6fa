package graphview

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/sharing"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// need is one watch that a view needs, and what for. Needs are compared: one
// that stays the same keeps its tap.
type need struct {
	resource resources.Resource
	key      watch.Key
	// query is the index of the query that selected the resource, and filter
	// what it says; roots are the view's. For the watch of namespaces they are
	// -1, what the spec says of namespaces, and their names.
	query  int
	filter string
	roots  string
}

// ofNamespaces tells whether the watch is that of Namespaces, by which the view
// selects some; ofReleases, that of what Helm's releases manage. All others are of
// objects, which are vertices of the view's graph.
func (n need) ofNamespaces() bool { return n.query < 0 }
func (n need) ofReleases() bool   { return n.key.Reduced }
func (n need) ofObjects() bool    { return !n.ofNamespaces() && !n.ofReleases() }

// Permit answers whether somebody may list and watch what is in places, of which
// the namespace "" means all namespaces. It returns the answers that it has
// beside an error too.
type Permit func(ctx context.Context, places []access.Place) (map[access.Place]bool, error)

// situation is everything that a view's needs are derived from, at one moment.
type situation struct {
	program  *spec.Program
	selected []resources.Selected
	// errs are about queries that cannot be evaluated.
	errs []error
	// who is the one whose rights restrict the view, as warnings call them; "" if
	// nobody's do.
	who string
	// answers are what is known of those rights. unanswered says why the others
	// will not be known for now; nil while they may be.
	answers    map[access.Place]bool
	unanswered error
	// refused are the resources that the operator may not watch in all namespaces
	// at once.
	refused map[resources.Resource]bool
	// shared are the watches of all namespaces that views share: what the view would
	// watch in single namespaces, it takes from those. current are the watches that it
	// has now.
	shared  map[watch.Key]sharing.Share
	current map[resources.Resource][]watchStatus
	// namespaces are those that the view selects by what they are, or all that
	// there are where it selects none. While complete is false they are what was
	// known before, nil if nothing was.
	namespaces map[string]bool
	complete   bool
}

// outline is what a view needs at one moment.
type outline struct {
	needed   map[need]bool
	selected []resources.Resource
	without  []denied
	// within are the namespaces to which a resource is restricted, beyond what
	// the spec says, by what may be read.
	within map[resources.Resource]map[string]bool
	// listed are the resources of which it depends on which namespaces there are
	// what the view has of them; unlisted says why that cannot be known.
	listed   []resources.Resource
	unlisted string
	// blind: the view may not read the namespaces that it is to select, so that it
	// selects none.
	blind bool
	// standby are the watches of all namespaces that are kept only to learn that the
	// operator may have them again, or until they have all there is.
	standby map[need]bool
	// demands are what the view would watch if it shared nothing.
	demands map[watch.Key]sharing.Demand
	// replaced are the resources whose refused watch of all namespaces the outline replaces.
	replaced map[resources.Resource]bool
	// places are all that the outline depends on.
	places []access.Place
	// undecided: some of these are not known yet, but may soon be.
	undecided bool
	// unlistedYet: which namespaces there are is not known yet, but may soon be.
	unlistedYet bool
	// errs are about queries that cannot be evaluated.
	errs []error
}

// open tells whether the view may soon need more.
func (o *outline) open() bool { return o.undecided || o.unlistedYet }

// The bounds of what one view may need.
var (
	boundWatches = budget.Declare("view_watches", "watches of one view that are restricted to a namespace or by a selector; narrow its queries or namespaces", 1000)
	boundPlaces  = budget.Declare("view_access_questions", "questions about what one view's service account, or its subscriber, may list and watch; narrow its queries or namespaces", 20_000)
)

// planner makes an outline of a situation.
type planner struct {
	situation
	outline

	// each is up to how many namespaces a resource is watched in each of them.
	each       int
	restricted *budget.Meter // watches
	questions  *budget.Meter
	noted      map[access.Place]bool // of the outline's places
}

// outlineOf derives which watches a view needs.
func outlineOf(s situation) outline {
	p := &planner{
		situation: s, each: watchesEach(len(s.selected)),
		outline: outline{
			needed: make(map[need]bool), within: make(map[resources.Resource]map[string]bool),
			standby: make(map[need]bool), demands: make(map[watch.Key]sharing.Demand), errs: s.errs, replaced: s.refused,
		},
		restricted: boundWatches.Meter(), questions: boundPlaces.Meter(), noted: make(map[access.Place]bool),
	}
	p.noteBlindness()
	var expressions []string
	for i := range s.program.Roots {
		expressions = append(expressions, s.program.Roots[i].Expression)
	}
	roots := quoted(expressions)
	for _, selected := range s.selected {
		p.add(selected, roots)
	}
	if len(p.listed) > 0 && p.readsNamespaces() == answerYes {
		p.needed[namespaceNeed(s.program)] = true
		p.unlistedYet = !s.complete
	}
	return p.outline
}

// add adds the needs of one selected resource.
func (p *planner) add(s resources.Selected, roots string) {
	r := s.Resource
	p.outline.selected = append(p.outline.selected, r)
	q := &p.program.Queries[s.Query]
	n := need{resource: r, query: s.Query, filter: q.Filter, roots: roots, key: watch.Key{
		Resource:      schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource},
		FieldSelector: q.Fields,
	}}
	if q.Labels != nil {
		n.key.LabelSelector = q.Labels.String()
	}
	at := p.place(r, n.key)
	if len(at.namespaces) > 0 && (at.namespaces[0] != "" || n.key.LabelSelector != "" || n.key.FieldSelector != "") {
		if err := p.restricted.Take(len(at.namespaces)); err != nil {
			if at.probe != nil && *at.probe != n.key && *at.probe != toggledPartial(n.key) {
				at.probe = nil // it stands for others
			}
			// A probe may come to have objects, so what may be read still restricts it.
			at = placement{denied: &denied{resource: r, err: err}, list: at.list, probe: at.probe, within: at.within}
		}
	}
	if at.denied != nil {
		p.without = append(p.without, *at.denied)
	}
	if at.within != nil {
		p.within[r] = at.within
	}
	if at.list || r.Namespaced && p.program.Namespaces.Selective() {
		p.listed = append(p.listed, r)
	}
	for _, namespace := range at.namespaces {
		n := n
		if at.shared != nil && namespace == "" {
			n.key = *at.shared
		}
		n.key.Namespace = namespace
		p.needed[n] = true
		if also, ok := n.releases(); ok {
			p.needed[also] = true
		}
	}
	if at.probe != nil {
		n.key = *at.probe
		p.needed[n], p.standby[n] = true, true
	}
}

// answer is what is known of a right.
type answer int

const (
	answerUnknown answer = iota
	answerNo
	answerYes
)

// allowed tells whether the view may have what is in a place, and notes that the
// outline depends on it. The error says why that is not known and will not be for
// now.
func (p *planner) allowed(place access.Place) (answer, error) {
	if p.who == "" {
		return answerYes, nil
	}
	if !p.noted[place] {
		if err := p.questions.Take(1); err != nil {
			return answerUnknown, err
		}
		p.noted[place] = true
		p.places = append(p.places, place)
	}
	switch may, known := p.answers[place]; {
	case !known && p.unanswered == nil:
		p.undecided = true
		return answerUnknown, nil
	case !known:
		return answerUnknown, p.unanswered
	case may:
		return answerYes, nil
	default:
		return answerNo, nil
	}
}

// readsNamespaces tells whether the view may make use of which namespaces there
// are. Where it selects them by what they are, it has to be able to read them: if
// not, expressions about them would tell of what is not to be known.
func (p *planner) readsNamespaces() answer {
	if !p.program.Namespaces.Selective() {
		return answerYes
	}
	may, _ := p.allowed(access.Place{Resource: "namespaces"})
	return may
}

// noteBlindness adds what follows where the view may not read namespaces.
func (p *planner) noteBlindness() {
	if p.readsNamespaces() == answerYes {
		return
	}
	may, err := p.allowed(access.Place{Resource: "namespaces"})
	if may == answerUnknown && err == nil {
		// What was known before holds until this is.
		return
	}
	p.blind, p.situation.namespaces, p.situation.complete = true, map[string]bool{}, true
	d := denied{resource: namespaceNeed(p.program).resource, who: p.who, err: err}
	p.without, p.unlisted = append(p.without, d), d.message()
}

// byKey orders needs, those of a resource before what they take along.
func byKey(a, b need) int { return strings.Compare(a.key.String(), b.key.String()) }

// overlaps tells whether two needs may bring the same objects.
func (n need) overlaps(o need) bool {
	return n.key.Namespace == o.key.Namespace || n.key.Namespace == "" || o.key.Namespace == ""
}

// quoted is a text that no other list has, whatever is in its elements.
func quoted(list []string) string {
	var text strings.Builder
	for _, element := range list {
		text.WriteString(strconv.Quote(element))
	}
	return text.String()
}

// namespaceNeed is the watch that tells which namespaces there are, of those
// that the spec selects.
func namespaceNeed(p *spec.Program) need {
	n := need{query: -1, resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}}
	n.key.Resource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if p.Namespaces != nil {
		n.key.LabelSelector, n.key.FieldSelector = p.Namespaces.Labels, p.Namespaces.Fields
		n.filter = p.Spec.Namespaces.ObjectSelectorExpression
		n.roots = quoted(p.Spec.Namespaces.Names)
	}
	return n
}

// permitOf is what restricts what the view is fed with, nil for nothing, and
// whose rights those are, as warnings call them.
func (v *View) permitOf(p *spec.Program) (Permit, string) {
	if v.permit != nil {
		return v.permit, "you"
	}
	account := p.Spec.ServiceAccountName
	if account == "" {
		return nil, ""
	}
	who := "service account " + account
	if v.engine.o.Permit == nil {
		return func(context.Context, []access.Place) (map[access.Place]bool, error) {
			return nil, errors.New("this server cannot decide for service accounts")
		}, who
	}
	return func(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
		return v.engine.o.Permit(ctx, Name{v.name.Namespace, account}, places)
	}, who
}
