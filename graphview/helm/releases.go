package helm

import (
	"cmp"
	"slices"

	"graphview.dev/graphview/graph"
)

// Releases joins the Secrets and ConfigMaps in which Helm keeps revisions with the objects
// that these revisions manage. A Secret arrives twice: a watch of Secrets brings its metadata,
// and a second watch brings the managed objects of revisions that are deployed or pending. The
// two arrive in any order, and each may arrive from several watches, which differ in namespaces
// or labels. A ConfigMap arrives once, with its managed objects.
//
// One revision of a release refers to its managed objects: the newest deployed one or, if no
// revision is deployed, the newest pending one. Helm marks the old revision as superseded before
// it marks the new one as deployed.
//
// W identifies a watch. Releases is not safe for concurrent use.
type Releases[W comparable] struct {
	set func(watch W, o *graph.Object)
	all map[releaseName]*release[W]
}

// NewReleases returns an empty join. Releases calls set with each Secret and ConfigMap whose
// references change because of another object.
func NewReleases[W comparable](set func(watch W, o *graph.Object)) *Releases[W] {
	return &Releases[W]{set: set, all: make(map[releaseName]*release[W])}
}

// Managed has the objects that a revision manages, read from one version of its Secret or ConfigMap.
type Managed struct {
	Version, Hash uint64
	// Deployed and Pending are those of the [Release].
	Deployed, Pending bool
	References        []graph.Reference
}

// Managed returns the objects of the release as references. The caller sets Version and Hash.
func (r *Release) Managed() *Managed {
	m := &Managed{Deployed: r.Deployed, Pending: r.Pending, References: make([]graph.Reference, len(r.Manages))}
	for i, o := range r.Manages {
		m.References[i] = graph.Reference{
			Type: graph.Direct, To: graph.Kind{Group: o.Group, Kind: o.Kind}, Namespace: o.Namespace, Name: o.Name, Field: Field,
		}
	}
	return m
}

// releaseName identifies a release by the kind and namespace of its objects.
type releaseName struct {
	configMaps      bool
	namespace, name string
}

// release has the known revisions of one release.
type release[W comparable] struct {
	revisions map[uint64]*revision[W] // by number
	// ranked are the revisions that may be the newest, which is the last.
	ranked []*revision[W]
}

// revision is one revision of a release: its Secret or its ConfigMap.
type revision[W comparable] struct {
	// objects has the Secret or ConfigMap as each watch brought it, without managed objects.
	objects map[W]*graph.Object
	managed map[W]*Managed
	number  uint64
	rank    rank // with which it is among the ranked ones of its release
}

// SetObject stores a Secret or a ConfigMap of a watch, and adds the managed objects to o if its revision
// refers to them. m has those of the release in a ConfigMap, and gets the Version and Hash of o. It is nil
// for a Secret, and for a ConfigMap without a revision that is deployed or pending.
func (r *Releases[W]) SetObject(watch W, configMap bool, o *graph.Object, m *Managed) {
	key, at := r.revision(configMap, o.Namespace, o.Name)
	if at == nil {
		return
	}
	if m != nil {
		m.Version, m.Hash = o.Version, o.Hash
	}
	own := *o
	r.change(key, at, func() {
		at.objects[watch] = &own
		at.setManaged(watch, m)
	})
	if len(at.managed) > 0 && r.all[key].newest() == at {
		at.addManaged(o)
	}
}

// DeleteObject removes a Secret or a ConfigMap of a watch.
func (r *Releases[W]) DeleteObject(watch W, configMap bool, namespace, name string) {
	if key, at := r.revision(configMap, namespace, name); at != nil {
		r.change(key, at, func() {
			delete(at.objects, watch)
			delete(at.managed, watch)
		})
	}
}

// SetManaged stores the managed objects of the revision in a Secret, nil if it is no longer deployed or
// pending.
func (r *Releases[W]) SetManaged(watch W, namespace, secret string, m *Managed) {
	if key, at := r.revision(false, namespace, secret); at != nil {
		r.change(key, at, func() { at.setManaged(watch, m) })
	}
}

// RemoveWatch removes everything that a watch brought. Each release changes once.
func (r *Releases[W]) RemoveWatch(watch W) {
	holds := func(at *revision[W]) bool { return at.objects[watch] != nil || at.managed[watch] != nil }
	for key, release := range r.all {
		found := false
		for _, at := range release.revisions {
			if found = holds(at); found {
				break
			}
		}
		if !found {
			continue
		}
		r.update(key, func(newest *revision[W]) (changed bool) {
			for _, at := range release.revisions {
				if holds(at) {
					delete(at.objects, watch)
					delete(at.managed, watch)
					release.updateRank(at)
					changed = changed || at == newest
				}
			}
			return changed
		})
	}
}

// revision returns the revision with the name of its Secret or ConfigMap, and creates it if necessary.
// It returns nil for names that Helm does not give.
func (r *Releases[W]) revision(configMap bool, namespace, object string) (key releaseName, at *revision[W]) {
	name, number, ok := Revision(object)
	if !ok {
		return key, nil
	}
	key = releaseName{configMap, namespace, name}
	of := r.all[key]
	if of == nil {
		of = &release[W]{revisions: make(map[uint64]*revision[W])}
		r.all[key] = of
	}
	if at = of.revisions[number]; at == nil {
		at = &revision[W]{number: number, objects: make(map[W]*graph.Object), managed: make(map[W]*Managed)}
		of.revisions[number] = at
	}
	return key, at
}

// change calls fn, which changes a revision that Releases.revision returned, and calls set with the
// objects of the release whose references change.
func (r *Releases[W]) change(key releaseName, at *revision[W], fn func()) {
	r.update(key, func(newest *revision[W]) bool {
		fn()
		r.all[key].updateRank(at)
		return newest == at
	})
}

// update calls fn, which changes a release, and calls set with its objects whose references change. fn
// gets the newest revision, and reports whether it changed that revision.
func (r *Releases[W]) update(key releaseName, fn func(newest *revision[W]) bool) {
	release := r.all[key]
	before := release.newest()
	changed := fn(before)
	after := release.newest()
	if changed || before != after {
		r.notify(before, before == after)
	}
	if before != after {
		r.notify(after, true)
	}
	if len(release.revisions) == 0 {
		delete(r.all, key)
	}
}

// notify calls set with the objects of a revision, with managed objects if it is the newest. at may be
// nil.
func (r *Releases[W]) notify(at *revision[W], newest bool) {
	if at == nil {
		return
	}
	for watch, own := range at.objects {
		o := *own
		if newest {
			at.addManaged(&o)
		}
		r.set(watch, &o)
	}
}

func (at *revision[W]) setManaged(watch W, m *Managed) {
	if m == nil {
		delete(at.managed, watch)
	} else {
		at.managed[watch] = m
	}
}

// latest returns the managed objects that were read from the highest version, nil if there are none.
func (at *revision[W]) latest() *Managed {
	var latest *Managed
	for _, m := range at.managed {
		if latest == nil || m.Version > latest.Version {
			latest = m
		}
	}
	return latest
}

// endedSince reports whether a watch of Secrets has a version of the revision that is later than
// m and has ended. Either of the two watches may be ahead.
func (at *revision[W]) endedSince(m *Managed) bool {
	for _, o := range at.objects {
		if o.Version > m.Version && Ended(o.Labels) {
			return true
		}
	}
	return false
}

// addManaged adds the managed objects to the references of a Secret or ConfigMap.
func (at *revision[W]) addManaged(o *graph.Object) {
	if m := at.latest(); len(m.References) > 0 {
		o.References = slices.Concat(o.References, m.References)
		// The graph compares references by Hash and Rules.
		o.Rules ^= m.Hash
	}
}

// rank orders revisions of a release by status.
type rank uint8

const (
	unranked    rank = iota // neither deployed nor pending, or not known
	rankPending             // about to be deployed
	rankDeployed
)

// currentRank returns the rank that follows from the objects of the watches.
func (at *revision[W]) currentRank() rank {
	switch m := at.latest(); {
	case m == nil || at.endedSince(m):
	case m.Deployed:
		return rankDeployed
	case m.Pending:
		return rankPending
	}
	return unranked
}

// updateRank moves a changed revision to its rank, and removes it if no watch has it any more. It
// compares it with few others, because a tenant can label any number of Secrets as deployed.
func (r *release[W]) updateRank(at *revision[W]) {
	if now := at.currentRank(); now != at.rank {
		if at.rank != unranked {
			i, _ := slices.BinarySearchFunc(r.ranked, at, byRank)
			r.ranked = slices.Delete(r.ranked, i, i+1)
		}
		if at.rank = now; now != unranked {
			i, _ := slices.BinarySearchFunc(r.ranked, at, byRank)
			r.ranked = slices.Insert(r.ranked, i, at)
		}
	}
	if len(at.objects)+len(at.managed) == 0 {
		delete(r.revisions, at.number)
	}
}

func byRank[W comparable](a, b *revision[W]) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.number, b.number))
}

// newest returns the newest deployed revision or, without one, the newest pending revision;
// nil if there is neither.
func (r *release[W]) newest() *revision[W] {
	if len(r.ranked) == 0 {
		return nil
	}
	return r.ranked[len(r.ranked)-1]
}
