package graphview

import (
	"errors"
	"slices"

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
// it is deployed. Where Helm keeps releases in ConfigMaps, which are read as they are,
// one watch has both. Only the loop uses it.
type releases map[releaseName]*release

// releaseName is a release by where Helm keeps it.
type releaseName struct {
	configMaps      bool
	namespace, name string
}

// release is what is known of one release, by the number of the revision.
type release struct {
	revisions map[uint64]*releaseSecret
	// ranks has the revisions that may be the newest, by what they are.
	ranks [numberOfRanks]newestFirst
}

// releaseSecret is one revision of a release: its Secret, or its ConfigMap.
type releaseSecret struct {
	// held is the Secret as watches of Secrets have it, without what it manages;
	// told is what it manages, as watches of releases have it.
	held map[*feed]*graph.Object
	told map[*feed]*managed
	// number is the revision's. rank and place say where its release has it in ranks.
	number uint64
	rank   rank
	place  int
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
	for _, m := range r.told {
		if latest == nil || m.version > latest.version {
			latest = m
		}
	}
	return latest
}

// at returns a release and a revision of it by the name of its Secret or ConfigMap, made
// if need be; nil for what is none.
func (r releases) at(configMap bool, namespace, object string) (key releaseName, at *releaseSecret) {
	name, number, ok := helm.Revision(object)
	if !ok {
		return key, nil
	}
	key = releaseName{configMap, namespace, name}
	of := r[key]
	if of == nil {
		of = &release{revisions: make(map[uint64]*releaseSecret)}
		r[key] = of
	}
	if at = of.revisions[number]; at == nil {
		at = &releaseSecret{number: number, held: make(map[*feed]*graph.Object), told: make(map[*feed]*managed)}
		of.revisions[number] = at
	}
	return key, at
}

// ended tells whether a watch of Secrets knows that the revision has become something
// else since it was told what it manages. Which of the two watches is ahead does not
// matter then: what changes with the one changes at once.
func (r *releaseSecret) ended(m *managed) bool {
	for _, o := range r.held {
		if o.Version > m.version && helm.Ended(o.Labels) {
			return true
		}
	}
	return false
}

// note files a revision anew whose watches have changed.
func (r *release) note(at *releaseSecret) {
	r.file(at)
	if len(at.told)+len(at.held) == 0 {
		delete(r.revisions, at.number)
	}
}

// hold remembers a Secret or ConfigMap that a watch has, and completes it. Of a ConfigMap
// the same watch tells what the revision manages: nil if that does not count.
func (r releases) hold(g *graph.Graph, f *feed, o *graph.Object, tells *managed) {
	configMap := isConfigMap(f.resource)
	key, at := r.at(configMap, o.Namespace, o.Name)
	if at == nil {
		return
	}
	own := *o
	r.changeAt(g, key, at, func(at *releaseSecret) {
		at.held[f] = &own
		switch {
		case tells != nil:
			tells.version, tells.hash = o.Version, o.Hash
			at.told[f] = tells
		case configMap:
			delete(at.told, f)
		}
	})
	if len(at.told) > 0 && r[key].newest() == at {
		at.complete(o)
	}
}

// forget takes in that a Secret or ConfigMap of a watch has gone.
func (r releases) forget(g *graph.Graph, f *feed, namespace, object string) {
	configMap := isConfigMap(f.resource)
	if key, at := r.at(configMap, namespace, object); at != nil {
		r.changeAt(g, key, at, func(at *releaseSecret) {
			delete(at.held, f)
			if configMap {
				delete(at.told, f)
			}
		})
	}
}

// complete adds to a Secret what the release manages. It is for the newest revision
// to tell.
func (r *releaseSecret) complete(o *graph.Object) {
	if m := r.latest(); len(m.references) > 0 {
		o.References = slices.Concat(o.References, m.references)
		// What else would tell the graph that the references are others?
		o.Rules ^= m.hash
	}
}

// change has fn change what is known of a Secret's release, and tells the graph
// about the Secrets of the release for which that makes a difference.
func (r releases) change(g *graph.Graph, namespace, secret string, fn func(*releaseSecret)) {
	if key, at := r.at(false, namespace, secret); at != nil {
		r.changeAt(g, key, at, fn)
	}
}

// changeAt is change for a revision that at has returned.
func (r releases) changeAt(g *graph.Graph, key releaseName, at *releaseSecret, fn func(*releaseSecret)) {
	r.update(g, key, func(newest *releaseSecret) bool {
		fn(at)
		r[key].note(at)
		return newest == at
	})
}

// update has fn change what is known of a release, and tells the graph about its
// Secrets for which that makes a difference. fn is given the newest revision, and tells
// whether it has changed what is known of that one.
func (r releases) update(g *graph.Graph, key releaseName, fn func(newest *releaseSecret) bool) {
	of := r[key]
	before := of.newest()
	changed := fn(before)
	after := of.newest()
	if changed || before != after {
		before.tell(g, before == after)
	}
	if before != after {
		after.tell(g, true)
	}
	if len(of.revisions) == 0 {
		delete(r, key)
	}
}

// tell tells the graph what the Secret refers to. Nil is none.
func (r *releaseSecret) tell(g *graph.Graph, newest bool) {
	if r == nil {
		return
	}
	for f, own := range r.held {
		o := *own
		if newest {
			r.complete(&o)
		}
		g.Set(f.source, &o)
	}
}

// drop forgets what a feed has told, of each release at once.
func (r releases) drop(g *graph.Graph, f *feed) {
	if !isSecret(f.resource) && !isConfigMap(f.resource) {
		return // it has seen no release, and there may be very many
	}
	knows := func(at *releaseSecret) bool { return at.held[f] != nil || at.told[f] != nil }
	for key, of := range r {
		known := false
		for _, at := range of.revisions {
			if known = knows(at); known {
				break
			}
		}
		if !known {
			continue
		}
		r.update(g, key, func(newest *releaseSecret) (changed bool) {
			for _, at := range of.revisions {
				if knows(at) {
					delete(at.held, f)
					delete(at.told, f)
					of.note(at)
					changed = changed || at == newest
				}
			}
			return changed
		})
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

// Apply implements writer.Event.
func (ev *releaseEvent) Apply() {
	e := ev.feed.engine
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
	f.engine.writer.Send(ev)
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
	for t := range f.taps.tapsFor(o.Namespace()).each {
		ev.verdicts = append(ev.verdicts, tapVerdict{tap: t})
	}
	f.engine.writer.Send(ev)
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
func warningOf(o *watch.Decoded, selected func() verdict) verdict {
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

func isSecret(r resources.Resource) bool { return r.Group == "" && r.Resource == "secrets" }
