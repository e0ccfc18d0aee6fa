package graphview

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// releases adds what Helm's releases manage to what their Secrets refer to. The
// Secrets themselves come, as metadata, from the watches that a view has of them;
// of the revisions that are deployed, or about to be, a second watch has what they
// manage. Either may be first, and each may be there more than once, where views
// differ in namespaces or labels. Of the revisions of a release, the newest that is
// deployed refers to what it manages; while none is, the newest that is about to be:
// Helm says of the old one that it is superseded before it says of the new one that
// it is deployed. Only the loop uses it.
type releases map[releaseName]map[uint64]*releaseSecret

type releaseName struct{ namespace, name string }

// releaseSecret is one revision of a release.
type releaseSecret struct {
	// held is the Secret as watches of Secrets have it, without what it manages;
	// told is what it manages, as watches of releases have it.
	held map[*feed]*graph.Object
	told map[*feed]*managed
}

// managed is what a revision of a release manages, as of one version of its
// Secret.
type managed struct {
	version, hash uint64
	// deployed: it is. If not, it may be about to be.
	deployed, pending bool
	references        []graph.Reference
}

// latest is what the revision manages, nil if nobody has told.
func (r *releaseSecret) latest() *managed {
	var latest *managed
	for m := range maps.Values(r.told) {
		if latest == nil || m.version > latest.version {
			latest = m
		}
	}
	return latest
}

// at returns a revision by the name of its Secret, made if need be; nil for what
// is none.
func (r releases) at(namespace, secret string) *releaseSecret {
	name, number, ok := helm.Revision(secret)
	if !ok {
		return nil
	}
	key := releaseName{namespace, name}
	if r[key] == nil {
		r[key] = make(map[uint64]*releaseSecret)
	}
	if r[key][number] == nil {
		r[key][number] = &releaseSecret{held: make(map[*feed]*graph.Object), told: make(map[*feed]*managed)}
	}
	return r[key][number]
}

// ended tells whether a watch of Secrets knows that the revision has become something
// else since it was told what it manages. Which of the two watches is ahead does not
// matter then: what changes with the one changes at once.
func (r *releaseSecret) ended(m *managed) bool {
	for o := range maps.Values(r.held) {
		if o.Version > m.version && helm.Ended(o.Labels) {
			return true
		}
	}
	return false
}

// newest is the newest revision of a release that is deployed, else the newest that
// is about to be, nil if there is neither.
func (r releases) newest(key releaseName) *releaseSecret {
	var pending *releaseSecret
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(r[key]))) {
		at := r[key][number]
		switch m := at.latest(); {
		case m == nil || at.ended(m):
		case m.deployed:
			return at
		case m.pending && pending == nil:
			pending = at
		}
	}
	return pending
}

// hold remembers a Secret that a watch has, and completes it.
func (r releases) hold(g *graph.Graph, f *feed, o *graph.Object) {
	at := r.at(o.Namespace, o.Name)
	if at == nil {
		return
	}
	own := *o
	r.change(g, o.Namespace, o.Name, func(at *releaseSecret) { at.held[f] = &own })
	name, _, _ := helm.Revision(o.Name)
	r.complete(releaseName{o.Namespace, name}, at, o)
}

// complete adds to a Secret what the release manages, if it is its to tell.
func (r releases) complete(key releaseName, at *releaseSecret, o *graph.Object) {
	if m := at.latest(); m != nil && len(m.references) > 0 && r.newest(key) == at {
		o.References = slices.Concat(o.References, m.references)
		// What else would tell the graph that the references are others?
		o.Rules ^= m.hash
	}
}

// change has fn change what is known of a Secret's release, and tells the graph
// about the Secrets of the release for which that makes a difference.
func (r releases) change(g *graph.Graph, namespace, secret string, fn func(*releaseSecret)) {
	at := r.at(namespace, secret)
	if at == nil {
		return
	}
	name, number, _ := helm.Revision(secret)
	key := releaseName{namespace, name}
	before := r.newest(key)
	fn(at)
	after := r.newest(key)
	for _, touched := range [...]*releaseSecret{before, after} {
		if touched == nil || before == after && touched != at {
			continue
		}
		for f, own := range touched.held {
			o := *own
			r.complete(key, touched, &o)
			g.Set(f.source, &o)
		}
	}
	if len(at.held)+len(at.told) == 0 {
		delete(r[key], number)
	}
	if len(r[key]) == 0 {
		delete(r, key)
	}
}

// drop forgets what a feed has told.
func (r releases) drop(g *graph.Graph, f *feed) {
	type secret struct{ namespace, name string }
	var mine []secret
	for key, revisions := range r {
		for number, at := range revisions {
			if at.held[f] != nil || at.told[f] != nil {
				mine = append(mine, secret{key.namespace, helm.Name(key.name, number)})
			}
		}
	}
	for _, s := range mine {
		r.change(g, s.namespace, s.name, func(at *releaseSecret) { delete(at.held, f); delete(at.told, f) })
	}
}

// releaseEvent is a release that appeared or changed, or with nil managed has
// gone.
type releaseEvent struct {
	feed            *feed
	namespace, name string
	managed         *managed
	verdicts        []tapVerdict
}

func (ev *releaseEvent) apply(e *Engine) {
	e.releases.change(e.graph, ev.namespace, ev.name, func(at *releaseSecret) {
		if ev.managed == nil {
			delete(at.told, ev.feed)
		} else {
			at.told[ev.feed] = ev.managed
		}
	})
	for i := range ev.verdicts {
		ev.verdicts[i].apply(0, ev.namespace, ev.name)
	}
}

// setRelease takes in a Secret of which the watch has kept what its release
// manages.
func (f *feed) setRelease(o *watch.Decoded) {
	if f.life.Err() != nil {
		return // as in event
	}
	m, err := readManaged(o)
	if err != nil {
		f.Invalid(o.Namespace(), o.Name(), err)
		return
	}
	ev := &releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name(), managed: m}
	var late []*tap
	ev.verdicts, late = f.evaluate(o, evaluateLive)
	f.engine.send(ev)
	for _, t := range late {
		t.view.backlog.put(t, o.Object, false)
	}
}

// readManaged reads what a watch has kept of a release.
func readManaged(o *watch.Decoded) (m *managed, err error) {
	defer panics.Recover(&err)
	tree, err := o.Tree()
	if err != nil {
		return nil, err
	}
	r := helm.Read(tree["reduced"])
	return &managed{version: o.Version(), hash: o.Hash(), deployed: r.Deployed, pending: r.Pending, references: referencesOf(&r)}, nil
}

// deleteRelease takes in that a release is no longer deployed, or gone.
func (f *feed) deleteRelease(o *watch.Object) {
	ev := &releaseEvent{feed: f, namespace: o.Namespace(), name: o.Name()}
	for _, t := range f.taps.Load().concerned(o.Namespace()) {
		ev.verdicts = append(ev.verdicts, tapVerdict{tap: t})
	}
	f.engine.send(ev)
}

// referencesOf are arcs to what a release manages.
func referencesOf(r *helm.Release) []graph.Reference {
	references := make([]graph.Reference, len(r.Manages))
	for i, o := range r.Manages {
		references[i] = graph.Reference{
			Type: graph.Direct, To: graph.Kind{Group: o.Group, Kind: o.Kind}, Namespace: o.Namespace, Name: o.Name, Field: helm.Field,
		}
	}
	return references
}

// warningOf says why a release could not be unpacked, to a view that selects its
// Secret.
func (t *tap) warningOf(o *watch.Decoded, selected func() verdict) verdict {
	tree, err := o.Tree()
	if err != nil {
		return verdict{err: err}
	}
	r := helm.Read(tree["reduced"])
	if r.Fault == "" {
		return verdict{}
	}
	v := selected()
	if v.selection.Member {
		v.err = &delivery.PartialError{Err: errors.New(r.Fault)}
	}
	return v
}

// releases is the watch of the revisions of Helm's releases that are deployed or about
// to be, which a need of Secrets takes along; ok is false where it has none.
func (n need) releases() (_ need, ok bool) {
	if !isSecret(n.resource) {
		return need{}, false
	}
	selector, err := fields.ParseSelector(n.key.FieldSelector)
	if err != nil {
		return need{}, false // the watch of Secrets says so
	}
	for _, r := range selector.Requirements() {
		if isHelm := r.Value == helm.SecretType; r.Field == "type" && isHelm == (r.Operator == "!=") {
			return need{}, false
		}
	}
	n.key.FieldSelector = join(n.key.FieldSelector, "type="+helm.SecretType)
	n.key.LabelSelector = join(n.key.LabelSelector, helm.NotEnded)
	n.key.Reduced = true
	return n, true
}

func isSecret(r resources.Resource) bool { return r.Group == "" && r.Resource == "secrets" }

// join joins selectors, of which the first may be empty.
func join(selectors ...string) string {
	return strings.Join(slices.DeleteFunc(selectors, func(s string) bool { return s == "" }), ",")
}
