package plan

import (
	"fmt"
	"strings"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// Outline describes the needs of a view at one moment.
type Outline struct {
	Needed   map[Need]bool
	Selected []resources.Resource
	Without  []Denied
	// Within are the namespaces in which the rights allow a resource, if they restrict it.
	Within map[resources.Resource]map[string]bool
	// Listed are the resources whose needs depend on the existing or selected namespaces.
	// Unlisted is the reason why the view cannot read these namespaces, nil if there is none.
	Listed   []resources.Resource
	Unlisted *Denied
	// Replaced are the resources whose refused watch of all namespaces other watches replace.
	Replaced map[resources.Resource]bool
	// Blind: the view may not read the Namespaces that it selects by label, field or
	// expression, so it selects none.
	Blind bool
	// Standby are the watches that the view has only to find out when they have synced.
	Standby map[Need]bool
	// Undecided: some rights that the outline depends on are not known yet. UnlistedYet: the
	// namespaces that it depends on are not known yet.
	Undecided   bool
	UnlistedYet bool
	// Places are the rights that the outline depends on. Overdrawn: it depends on more rights than the
	// view's owner may hold, so it is incomplete.
	Places    []access.Place
	Overdrawn bool
	// Again is the time until the outline may change although the Book does not call Notify.
	Again time.Duration
}

// Open reports whether rights or namespaces are not known yet, so that the view may soon need more.
func (o *Outline) Open() bool { return o.Undecided || o.UnlistedYet }

// outline derives the needs of a view from its claims, from the watches that views share,
// and from the watches that the view has now.
func (c *claims) outline(shared map[watch.Key]Share) Outline {
	p := planner{
		claims: c, shared: shared,
		out: Outline{
			Needed: make(map[Need]bool), Standby: make(map[Need]bool), Within: make(map[resources.Resource]map[string]bool),
			Without: c.without, Unlisted: c.namespaces.unlisted, Blind: c.namespaces.blind,
			Undecided: c.undecided, Replaced: c.s.Refused, Places: c.places, Overdrawn: c.overdrawn,
		},
	}
	var roots []string
	for i := range c.s.Program.Roots {
		roots = append(roots, c.s.Program.Roots[i].Expression)
	}
	p.roots = quoted(roots)
	for i := range c.each {
		p.add(&c.each[i])
	}
	if len(p.out.Listed) > 0 && c.namespaces.read {
		p.out.Needed[NamespaceNeed(c.s.Program)] = true
		p.out.UnlistedYet = !c.s.Complete
	}
	return p.out
}

// planner makes an outline.
type planner struct {
	*claims

	shared map[watch.Key]Share
	roots  string
	out    Outline
}

// placement says in which watches a view watches a resource.
type placement struct {
	// namespaces are watched one by one.
	namespaces []string
	// wide is the watch of all namespaces or of a cluster-scoped resource, nil for none.
	wide *watch.Key
	// probe is a watch of all namespaces that the view has only to find out when it has synced,
	// nil for none.
	probe *watch.Key
}

// add adds the needs of a claim to the outline.
func (p *planner) add(of *claim) {
	r := of.selected.Resource
	p.out.Selected = append(p.out.Selected, r)
	at := p.place(of)
	if of.denied != nil {
		p.out.Without = append(p.out.Without, *of.denied)
	}
	if of.within != nil {
		p.out.Within[r] = of.within
	}
	if of.list || r.Namespaced && p.s.Program.Namespaces.Selective() {
		p.out.Listed = append(p.out.Listed, r)
	}
	n := Need{Resource: r, Query: of.selected.Query, Filter: p.s.Program.Queries[of.selected.Query].Filter, Roots: p.roots}
	for _, namespace := range at.namespaces {
		n.Key = of.wide
		n.Key.Namespace = namespace
		p.needWithReleases(n)
	}
	if at.wide != nil {
		n.Key = *at.wide
		p.needWithReleases(n)
	}
	if at.probe != nil {
		n.Key = *at.probe
		p.need(n)
		p.out.Standby[n] = true
	}
}

func (p *planner) need(n Need) { p.out.Needed[n] = true }

func (p *planner) needWithReleases(n Need) {
	p.need(n)
	if releases, ok := n.releases(); ok {
		p.need(releases)
	}
}

// place decides where the view watches the resource of a claim.
func (p *planner) place(of *claim) placement {
	switch of.form {
	case clusterScoped, everywhere:
		return placement{wide: &of.wide}
	case single:
		if p.s.Own {
			return placement{namespaces: of.namespaces}
		}
		return p.placeSingle(of)
	case nothingGranted, refusedSingle:
	}
	at := placement{namespaces: of.namespaces}
	if of.form == nothingGranted {
		at.namespaces = nil
	}
	if of.retries {
		// The refused watch itself: its state Forbidden is the reason for the form refusedSingle.
		at.probe = &of.wide
	}
	return at
}

// Denied is a resource that the view may not watch, at least in part.
type Denied struct {
	Resource resources.Resource
	// Namespaces are the namespaces, named in the spec, in which the right is denied. Partly: the
	// view may watch the resource in some namespaces.
	Namespaces []string
	Partly     bool

	// subject is the account that lacks the right.
	subject string
	// err is the reason why the right is not known, nil if the right is denied.
	err error
}

// Lacks reports whether the subject lacks the right. Otherwise it is not known.
func (d *Denied) Lacks() bool { return d.err == nil }

// maxDeniedNames bounds the namespaces that a message names.
const maxDeniedNames = 8

// Message returns the reason for the author of the view.
func (d *Denied) Message() string {
	switch {
	case d.err != nil:
		return fmt.Sprintf("whether %s may list and watch it is not known: %s", d.subject, d.err.Error())
	case len(d.Namespaces) > maxDeniedNames:
		return fmt.Sprintf("%s may not list and watch it in %s and %d more namespaces",
			d.subject, strings.Join(d.Namespaces[:maxDeniedNames], ", "), len(d.Namespaces)-maxDeniedNames)
	case len(d.Namespaces) > 0:
		return fmt.Sprintf("%s may not list and watch it in %s", d.subject, strings.Join(d.Namespaces, ", "))
	case d.Partly:
		return d.subject + " may not list and watch it in all namespaces"
	default:
		return d.subject + " may not list and watch it"
	}
}
