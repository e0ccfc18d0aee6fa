package delivery

import (
	"fmt"
	"strings"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// maxShown is the maximum number of warnings of a view about single objects. One more warning
// counts the other objects.
const maxShown = 20

// faultBytes is the memory for an object that could not be evaluated, without its names, in bytes.
// TestFaultBytes compares it with the heap.
const faultBytes = 160

// FaultOrigin stands for the evaluation of the objects of one watch for a view. An object may fail by
// several origins. Its address identifies it.
type FaultOrigin struct {
	Resource graph.Resource // of the watch
	// Namespaces: the view selects its namespaces from the objects of the watch.
	Namespaces bool
}

// faults has the objects that could not be evaluated.
type faults struct {
	// of maps each origin to the objects that failed, and each object to its group.
	of map[*FaultOrigin]map[object]*faultGroup
	// groups are interned, since most objects fail for the same few causes. counts is the number of
	// objects in each group.
	groups map[faultGroup]*faultGroup
	counts map[faultGroup]int
	all    int   // number of objects
	bytes  int64 // memory of the objects
	// shown maps each object that has its own warning to the id of the warning.
	shown map[fault]WarningID
}

type object struct{ namespace, name string }

type fault struct {
	origin *FaultOrigin
	object
}

type faultGroup struct {
	resource graph.Resource
	// kind is the type of the warnings.
	kind  string
	cause cause
}

func groupOf(by *FaultOrigin, err error) faultGroup {
	g := faultGroup{resource: by.Resource, kind: streamv1alpha1.ObjectProcessingFailed, cause: causeOf(err)}
	if by.Namespaces {
		g.kind = streamv1alpha1.NamespaceListFailed
	}
	return g
}

func newFaults() faults {
	return faults{
		of: make(map[*FaultOrigin]map[object]*faultGroup), groups: make(map[faultGroup]*faultGroup), counts: make(map[faultGroup]int),
		shown: make(map[fault]WarningID),
	}
}

// others is the cause of a failure if the view has too many causes already.
const others = "for another cause than those that are named"

// Bytes returns the memory of the objects that could not be processed.
func (w *Warnings) Bytes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults.bytes
}

func (o object) bytes() int64 { return faultBytes + int64(len(o.namespace)+len(o.name)) }

// Faults returns the number of objects that could not be processed.
func (w *Warnings) Faults() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults.all
}

// SetFault records that an object cannot be evaluated. A nil err clears the failure. It reports whether
// a warning changed, and leaves it to the caller to notify subscribers: many objects may fail at once.
func (w *Warnings) SetFault(by *FaultOrigin, namespace, name string, err error) (changed bool) {
	f := fault{by, object{namespace, name}}
	return w.update(func() {
		old, known := w.faults.of[by][f.object]
		if err == nil {
			if known {
				w.dropFaultLocked(f, old)
				w.showMoreLocked()
			}
			return
		}
		next := w.faults.intern(groupOf(by, err))
		switch {
		case known && next == old:
			return
		case known:
			w.faults.uncount(old)
		default:
			// The names may be parts of a larger string, which they would keep in memory.
			f.object = object{strings.Clone(namespace), strings.Clone(name)}
			w.faults.all++
			w.faults.bytes += f.bytes()
		}
		if w.faults.of[by] == nil {
			w.faults.of[by] = make(map[object]*faultGroup)
		}
		w.faults.of[by][f.object] = next
		w.faults.counts[*next]++
		if _, ok := w.faults.shown[f]; ok {
			w.showLocked(f, next)
		}
		w.showMoreLocked()
	})
}

// SetExceeded records that an object exceeds a bound of the graph. A nil err clears that. Any other
// failure of the object takes precedence. It returns the same as SetFault.
func (w *Warnings) SetExceeded(by *FaultOrigin, namespace, name string, err error) (changed bool) {
	w.mu.Lock()
	now, known := w.faults.of[by][object{namespace, name}]
	w.mu.Unlock()
	return (!known || now.cause.ofBound) && w.SetFault(by, namespace, name, err)
}

// intern returns the pointer for g. If there are too many groups, g gets the cause others.
func (s *faults) intern(g faultGroup) *faultGroup {
	if known := s.groups[g]; known != nil {
		return known
	}
	if len(s.groups) >= int(warningsBound.Limit()) && g.cause.text != others {
		_ = warningsBound.Exceed() // for the metric; the cause others is the message
		g.cause.text, g.cause.coarse = others, others
		return s.intern(g)
	}
	s.groups[g] = &g
	return &g
}

// release drops a group that has no objects any more.
func (s *faults) release(g *faultGroup) {
	if s.counts[*g] == 0 {
		delete(s.counts, *g)
		delete(s.groups, *g)
	}
}

func (s *faults) uncount(g *faultGroup) {
	s.counts[*g]--
	s.release(g)
}

// DropFaults drops the failures of an origin.
func (w *Warnings) DropFaults(by *FaultOrigin) {
	w.change(func() {
		s := &w.faults
		for o, g := range s.of[by] {
			s.uncount(g)
			s.bytes -= o.bytes()
		}
		s.all -= len(s.of[by])
		delete(s.of, by)
		for f := range s.shown {
			if f.origin == by {
				w.hideLocked(f)
			}
		}
		w.showMoreLocked()
	})
}

func (w *Warnings) dropFaultLocked(f fault, of *faultGroup) {
	s := &w.faults
	delete(s.of[f.origin], f.object)
	if len(s.of[f.origin]) == 0 {
		delete(s.of, f.origin)
	}
	s.all--
	s.bytes -= f.bytes()
	s.uncount(of)
	w.hideLocked(f)
}

// hideLocked clears the warning about an object, or shows the object's failure for another origin.
func (w *Warnings) hideLocked(f fault) {
	id, ok := w.faults.shown[f]
	if !ok {
		return
	}
	delete(w.faults.shown, f)
	for other, same := range w.faults.shown {
		if same == id {
			w.showLocked(other, w.faults.of[other.origin][other.object])
			return
		}
	}
	w.clearLocked(id)
}

// showMoreLocked adds warnings about objects up to maxShown, and counts the other objects.
func (w *Warnings) showMoreLocked() {
	s := &w.faults
	if len(s.shown) < min(maxShown, s.all) {
		w.fillLocked()
	}
	rest := Warning{Type: streamv1alpha1.ObjectProcessingFailed}
	if n := s.all - len(s.shown); n > 0 {
		rest.Message = fmt.Sprintf("%d more objects could not be processed", n)
		w.setLocked(rest.ID(), rest)
	} else {
		w.clearLocked(rest.ID())
	}
}

func (w *Warnings) fillLocked() {
	for by, objects := range w.faults.of {
		for o, g := range objects {
			if len(w.faults.shown) >= maxShown {
				return
			}
			if f := (fault{by, o}); w.faults.shown[f] == (WarningID{}) {
				w.showLocked(f, g)
			}
		}
	}
}

func (w *Warnings) showLocked(f fault, g *faultGroup) {
	r := f.origin.Resource
	out := Warning{
		Type: g.kind, Attributes: attributesOf(r, f.namespace, f.name),
		place: &access.Place{Group: r.Group, Resource: r.Resource, Namespace: f.namespace},
	}
	what := f.name
	if f.namespace != "" {
		what = f.namespace + "/" + f.name
	}
	out.Message = fmt.Sprintf("%s %s: %s", resourceText(r), what, g.cause.text)
	if f.origin.Namespaces {
		out.Attributes = Attributes{Namespace: f.name}
	}
	w.faults.shown[f] = out.ID()
	w.setLocked(out.ID(), out)
}
