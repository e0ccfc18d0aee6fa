package plan

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

const (
	// maxNamespaceWatches is the largest number of namespaces in which a view watches a resource
	// one by one. For more namespaces, one watch of all namespaces costs less.
	maxNamespaceWatches = maxApart
	// usualWatches is the number of watches of single namespaces that a view should not exceed.
	// So a view of many resources watches each of them in fewer single namespaces.
	usualWatches = 200
	// maxFallbackWatches bounds the watches of single namespaces for a resource that the operator
	// may not watch in all namespaces at once.
	maxFallbackWatches = 256
)

// watchesEach returns the largest number of namespaces in which a view that selects a number of
// resources watches each of them one by one.
func watchesEach(resources int) int {
	return min(max(usualWatches/max(resources, 1), 1), maxNamespaceWatches)
}

// Situation is the input of a view's outline at one moment.
type Situation struct {
	Program  *spec.Program
	Selected []resources.Selected
	// Subject names the account whose rights restrict the view, for warnings; "" if no account
	// does.
	Subject string
	// Own: the subject is the account of this process, so watches outside its rights would fail.
	// The view then shares and probes no watch, and Refused has no effect.
	Own bool
	// Allowed returns whether the subject has a right, and whether that is known. Unanswered is the
	// reason why no answers about other rights can be expected now, nil while they can.
	Allowed    func(access.Place) (allowed, known bool)
	Unanswered error
	// Charge is called before the claims depend on another right, with the new number of rights.
	// If it returns an error, the outline is Overdrawn. It may be nil.
	Charge func(places int) error
	// Refused are the resources that the operator may not watch in all namespaces at once.
	Refused map[resources.Resource]bool
	// Namespaces are the selected namespaces or, without a selector, all namespaces of the
	// cluster. While Complete is false, they are the last known ones, nil if there are none.
	Namespaces map[string]bool
	Complete   bool
	// Watches are the states of the watches that the view has, by resource.
	Watches map[resources.Resource][]WatchStatus
}

// claims describe the places that a view may watch by its spec and its rights, regardless of other views.
type claims struct {
	// demands are the view's demands for watches of all namespaces.
	demands map[watch.Key]Demand
	// places are the rights that the claims depend on.
	places []access.Place
	// undecided: the answer about some place is not known yet.
	undecided bool
	// overdrawn: the claims depend on more rights than the view's owner may hold, so they are
	// incomplete.
	overdrawn bool

	s    Situation
	each []claim // of a resource
	// namespaces is the part of the outline about namespaces.
	namespaces outlineOfNamespaces
	without    []Denied
	most       int                   // see watchesEach
	named      []string              // the names of namespaces in the spec, sorted; nil if it has none
	asked      map[access.Place]bool // set of places
}

// outlineOfNamespaces says whether a view may read Namespaces; see Outline.Blind and Unlisted.
type outlineOfNamespaces struct {
	blind    bool
	unlisted *Denied
	read     bool // the view may read them
}

// claim describes the places of one resource that a view may watch.
type claim struct {
	selected resources.Selected
	// wide is the watch of all namespaces that the view would have without other views.
	wide watch.Key
	form form
	// namespaces are the namespaces to watch, unless the form is clusterScoped or everywhere.
	namespaces []string
	// within are the granted namespaces, nil if the rights are not restricted to namespaces.
	within map[string]bool
	denied *Denied
	// list: the claim depends on which namespaces exist.
	list bool
	// retries: the operator is refused the watch of all namespaces and tries it again.
	retries bool
}

// form is how a view would watch a resource without other views.
type form int

const (
	// nothingGranted: no right is granted, or rights are not known yet.
	nothingGranted form = iota
	// clusterScoped is one watch of a resource without namespaces.
	clusterScoped
	// everywhere is one watch of all namespaces.
	everywhere
	// single is a watch of each namespace.
	single
	// refusedSingle is single because the API server refuses the operator the watch of all namespaces.
	refusedSingle
)

// claimsOf derives the claims of a view.
func claimsOf(s Situation) *claims {
	c := &claims{
		demands: make(map[watch.Key]Demand), s: s, most: watchesEach(len(s.Selected)), asked: make(map[access.Place]bool),
		named: s.Program.Namespaces.Named(),
	}
	c.readNamespaces()
	for _, selected := range s.Selected {
		if c.overdrawn {
			break
		}
		claim := c.claim(selected)
		c.demand(&claim)
		c.each = append(c.each, claim)
	}
	if d := c.namespaces.unlisted; d != nil && (s.Program.Namespaces.Selective() || slices.ContainsFunc(c.each, func(of claim) bool { return of.list })) {
		c.without = append(c.without, *d)
	}
	return c
}

// readNamespaces decides whether the view may read Namespaces. If it may not, it selects no
// namespaces, because its selectors would reveal content of Namespaces.
func (c *claims) readNamespaces() {
	if !c.s.Program.Namespaces.Selective() && (!c.s.Own || c.namesNamespaces()) {
		c.namespaces.read = true
		return
	}
	may, err := c.allowed(access.Place{Resource: "namespaces"})
	if c.namespaces.read = may == answerYes; c.namespaces.read || may == answerUnknown && err == nil {
		return // while the answer is unknown, the last known namespaces count
	}
	c.s.Namespaces, c.s.Complete = map[string]bool{}, true
	c.namespaces.blind = true
	c.namespaces.unlisted = &Denied{Resource: NamespaceNeed(c.s.Program).Resource, subject: c.s.Subject, err: err}
}

// claim decides where one resource may be watched: as widely as the spec and the rights
// allow, with as few watches as possible.
func (c *claims) claim(selected resources.Selected) claim {
	r := selected.Resource
	q := &c.s.Program.Queries[selected.Query]
	out := claim{selected: selected, wide: watch.Key{
		Resource:      schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource},
		FieldSelector: q.Fields,
	}}
	if q.Labels != nil {
		out.wide.LabelSelector = q.Labels.String()
	}
	all, err := c.allowedEverywhere(r)
	switch {
	case err != nil:
		out.denied = &Denied{Resource: r, subject: c.s.Subject, err: err}
		return out
	case all == answerUnknown:
		return out
	case !r.Namespaced && all == answerNo:
		out.denied = &Denied{Resource: r, subject: c.s.Subject}
		return out
	case !r.Namespaced:
		out.form = clusterScoped
		return out
	}
	out.namespaces = c.named
	refused := c.s.Refused[r] && !c.s.Own
	out.list = out.namespaces == nil && (all == answerNo || refused)
	if out.list {
		out.namespaces = slices.Sorted(maps.Keys(c.s.Namespaces))
	}
	few := !out.list && out.namespaces != nil && len(out.namespaces) <= c.most
	if all == answerNo {
		c.grant(&out)
	}
	switch {
	case few, all == answerNo && c.s.Own, all == answerNo && !refused && len(out.namespaces) <= c.most:
		out.form = single
	case refused:
		// A view of few namespaces has the form single, and does not try the watch of all namespaces.
		out.form, out.retries = refusedSingle, true
		if len(out.namespaces) > maxFallbackWatches {
			out.form, out.denied = nothingGranted, &Denied{Resource: r, subject: "the operator", err: fmt.Errorf(
				"it may not watch all namespaces at once, and there are more than %d to watch one by one", maxFallbackWatches)}
		}
	default:
		// Namespaces that a selector selects change often. With another form, each new namespace would
		// have to be listed for each resource of the view.
		out.form = everywhere
	}
	return out
}

// grant restricts a claim to the namespaces in which the view may read the resource. It leaves out
// namespaces without an answer yet, and does not count them as denied.
func (c *claims) grant(out *claim) {
	r, names := out.selected.Resource, out.namespaces
	out.namespaces, out.within = nil, make(map[string]bool)
	var denied *Denied
	for _, name := range names {
		may, err := c.allowed(access.Place{Group: r.Group, Resource: r.Resource, Namespace: name})
		switch {
		case may == answerYes:
			out.namespaces = append(out.namespaces, name)
			out.within[name] = true
			continue
		case may == answerUnknown && err == nil:
			continue
		case denied == nil:
			denied = &Denied{Resource: r, subject: c.s.Subject, err: err}
		}
		if err == nil {
			denied.Namespaces = append(denied.Namespaces, name)
		} else {
			denied.err = err
		}
	}
	if denied != nil && denied.err == nil && out.list {
		denied.Partly, denied.Namespaces = len(out.namespaces) > 0, nil
	}
	out.denied = denied
}

// demand adds the demands of a claim to demands.
func (c *claims) demand(of *claim) {
	switch {
	case c.s.Own:
	case of.form == everywhere:
		c.demands[of.wide] = Demand{Extent: Everything}
	case of.form == single && len(of.namespaces) > 0:
		c.demands[of.plain()] = Demand{Extent: Guest}
		c.demands[of.wide] = Demand{Extent: Single, Namespaces: of.namespaces}
	}
}

// plain returns the key of the watch of all namespaces without a label selector.
func (c *claim) plain() watch.Key {
	key := c.wide
	key.LabelSelector = ""
	return key
}

// namesNamespaces reports whether the spec names the view's namespaces.
func (c *claims) namesNamespaces() bool {
	return c.named != nil && !c.s.Program.Namespaces.Selective()
}

// allowedEverywhere calls allowed for a resource in all namespaces. If the process watches with its
// own rights and the spec names namespaces, it does not ask: it watches these namespaces.
func (c *claims) allowedEverywhere(r resources.Resource) (answer, error) {
	if c.s.Own && r.Namespaced && c.namesNamespaces() {
		return answerNo, nil
	}
	return c.allowed(access.Place{Group: r.Group, Resource: r.Resource})
}

// answer says whether a right is granted.
type answer int

const (
	answerUnknown answer = iota
	answerNo
	answerYes
)

// allowed returns whether the view may list and watch a place, and adds the place to places. The
// error is the reason why the answer is unknown and cannot be expected now.
func (c *claims) allowed(place access.Place) (answer, error) {
	if c.s.Subject == "" {
		return answerYes, nil
	}
	if !c.asked[place] {
		if !c.overdrawn && c.s.Charge != nil {
			c.overdrawn = c.s.Charge(len(c.places)+1) != nil
		}
		if c.overdrawn {
			return answerUnknown, nil
		}
		c.asked[place] = true
		c.places = append(c.places, place)
	}
	switch may, known := c.s.Allowed(place); {
	case !known && c.s.Unanswered == nil:
		c.undecided = true
		return answerUnknown, nil
	case !known:
		return answerUnknown, c.s.Unanswered
	case may:
		return answerYes, nil
	default:
		return answerNo, nil
	}
}
