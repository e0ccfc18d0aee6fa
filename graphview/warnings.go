package graphview

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
)

// maxFaults is how many warnings about single objects are live in a view; one
// more counts the rest.
const maxFaults = 20

// maxCleared is how many warnings that were taken back are remembered for
// subscribers that are behind.
const maxCleared = 256

// warning is a message of type Warning. Type and Attributes identify it.
type warning struct {
	Type       string     `json:"t"`
	Message    string     `json:"m,omitempty"`
	Attributes attributes `json:"a,omitzero"`

	resource  *resources.Resource // nil for those that everybody may see
	namespace string
	number    uint64 // when it was set
}

// attributes of a warning. The group is given wherever the version is, also
// where it is empty.
type attributes struct {
	Group     *string `json:"g,omitempty"`
	Version   string  `json:"v,omitempty"`
	Resource  string  `json:"r,omitempty"`
	Namespace string  `json:"ns,omitempty"`
	Name      string  `json:"n,omitempty"`
}

func (a *attributes) set(r resources.Resource, namespace, name string) {
	*a = attributes{Group: &r.Group, Version: r.Version, Resource: r.Resource, Namespace: namespace, Name: name}
}

// id identifies a warning: those of equal id are one.
func (w *warning) id() string {
	id := w.Type
	if w.Attributes.Group != nil {
		id += "\x00" + *w.Attributes.Group
	}
	a := w.Attributes
	return id + "\x00" + a.Version + "\x00" + a.Resource + "\x00" + a.Namespace + "\x00" + a.Name
}

// fault is an object that one tap could not judge.
type fault struct {
	tap             *tap
	namespace, name string
}

// partialError is what is not understood of an object that is selected all the
// same.
type partialError struct{ error }

func (e *partialError) Unwrap() error { return e.error }

// trouble is why an object could not be judged, or only in part.
type trouble struct {
	text    string
	partial bool
	// ofGraph: it is a bound of the graph that the object exceeds.
	ofGraph bool
	// coarse is the text for an author who may read less than the view is fed with.
	coarse string
}

func troubleOf(err error) trouble {
	_, partial := errors.AsType[*partialError](err)
	_, ofGraph := errors.AsType[*graphError](err)
	t := trouble{text: bounded(err.Error()), partial: partial, ofGraph: ofGraph}
	t.coarse = t.text
	if failed, ok := errors.AsType[*expr.EvaluationError](err); ok {
		t.coarse = failed.Coarse().Error()
	}
	return t
}

// outcome is what became of the objects that had it.
func (t trouble) outcome() string {
	if t.partial {
		return "understood only in part"
	}
	return "not selected"
}

// warnings are the live ones of a view, numbered in the order in which they
// last changed, so that a subscriber is a number.
type warnings struct {
	changed func() // after something changed

	mu     sync.Mutex
	number uint64
	live   map[string]warning
	// cleared are those taken back, oldest first; forgotten is the number of
	// the last that fell out.
	cleared   []warning
	forgotten uint64
	// faults are all objects that could not be judged, told those that are
	// among the live warnings.
	faults map[fault]trouble
	told   map[fault]string // → id of the warning
	others map[string]bool  // ids that set has made
}

func newWarnings(changed func()) *warnings {
	return &warnings{
		changed: changed,
		number:  1, // 0 is a subscriber's that has been told nothing
		live:    make(map[string]warning),
		faults:  make(map[fault]trouble),
		told:    make(map[fault]string),
		others:  make(map[string]bool),
	}
}

// set replaces all warnings but those about single objects.
func (w *warnings) set(live map[string]warning) {
	w.mu.Lock()
	before := w.number
	for id := range w.others {
		if _, ok := live[id]; !ok {
			w.clearLocked(id)
			delete(w.others, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(live)) {
		w.others[id] = true
		w.setLocked(id, live[id])
	}
	changed := w.number != before
	w.mu.Unlock()
	if changed {
		w.changed()
	}
}

// setFault says that a tap cannot judge an object, or with a nil err that it can.
func (w *warnings) setFault(t *tap, namespace, name string, err error) {
	f := fault{t, namespace, name}
	w.mu.Lock()
	before := w.number
	old, known := w.faults[f]
	switch {
	case err == nil && !known:
	case err == nil:
		w.dropFaultLocked(f)
		w.tellMoreLocked()
	case troubleOf(err) != old:
		w.faults[f] = troubleOf(err)
		if _, ok := w.told[f]; ok {
			w.tellLocked(f)
		}
		w.tellMoreLocked()
	}
	changed := w.number != before
	w.mu.Unlock()
	if changed {
		w.changed()
	}
}

// dropFaults forgets what a tap could not judge.
func (w *warnings) dropFaults(t *tap) {
	w.mu.Lock()
	before := w.number
	for f := range w.faults {
		if f.tap == t {
			w.dropFaultLocked(f)
		}
	}
	w.tellMoreLocked()
	changed := w.number != before
	w.mu.Unlock()
	if changed {
		w.changed()
	}
}

// reset takes everything back.
func (w *warnings) reset() {
	w.mu.Lock()
	clear(w.faults)
	clear(w.told)
	clear(w.others)
	before := w.number
	for _, id := range slices.Sorted(maps.Keys(w.live)) {
		w.clearLocked(id)
	}
	changed := w.number != before
	w.mu.Unlock()
	if changed {
		w.changed()
	}
}

func (w *warnings) dropFaultLocked(f fault) {
	delete(w.faults, f)
	if id, ok := w.told[f]; ok {
		delete(w.told, f)
		if !slices.Contains(slices.Collect(maps.Values(w.told)), id) {
			w.clearLocked(id)
		}
	}
}

// tellMoreLocked fills the places of faults that are told, and counts the rest.
func (w *warnings) tellMoreLocked() {
	if len(w.told) < min(maxFaults, len(w.faults)) {
		for f := range w.faults {
			if _, ok := w.told[f]; !ok {
				w.tellLocked(f)
			}
			if len(w.told) >= maxFaults {
				break
			}
		}
	}
	rest := warning{Type: "OBJECT_PROCESSING_FAILED"}
	if n := len(w.faults) - len(w.told); n > 0 {
		rest.Message = fmt.Sprintf("%d more objects could not be processed", n)
		w.setLocked(rest.id(), rest)
	} else {
		w.clearLocked(rest.id())
	}
}

func (w *warnings) tellLocked(f fault) {
	r := f.tap.need.resource
	out := warning{Type: "OBJECT_PROCESSING_FAILED", resource: &r, namespace: f.namespace}
	what := f.name
	if f.namespace != "" {
		what = f.namespace + "/" + f.name
	}
	out.Message = fmt.Sprintf("%s %s: %s", r, what, w.faults[f].text)
	out.Attributes.set(r, f.namespace, f.name)
	if f.tap.namespaces != nil {
		out.Type, out.Attributes = "NAMESPACE_LIST_FAILED", attributes{Namespace: f.name}
	}
	w.told[f] = out.id()
	w.setLocked(out.id(), out)
}

func (w *warnings) setLocked(id string, next warning) {
	if old, ok := w.live[id]; ok && old.Message == next.Message {
		return
	}
	w.number++
	next.number = w.number
	w.live[id] = next
}

func (w *warnings) clearLocked(id string) {
	old, ok := w.live[id]
	if !ok {
		return
	}
	delete(w.live, id)
	w.number++
	old.number = w.number
	w.cleared = append(w.cleared, old)
	if len(w.cleared) > maxCleared {
		w.forgotten = w.cleared[0].number
		w.cleared = slices.Delete(w.cleared, 0, 1)
	}
}

// since returns what was set and taken back after a number, and the number to
// give next time. With 0, or where too much was taken back since, all that is
// live; ok is then false unless the number was 0.
func (w *warnings) since(number uint64) (set, cleared []warning, now uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ok = number == 0 || number >= w.forgotten
	if !ok {
		number = 0
	}
	for _, l := range w.live {
		if l.number > number {
			set = append(set, l)
		}
	}
	slices.SortFunc(set, func(a, b warning) int { return int(a.number) - int(b.number) })
	if number > 0 {
		for _, c := range w.cleared {
			if _, again := w.live[c.id()]; !again && c.number > number {
				c.Message = ""
				cleared = append(cleared, c)
			}
		}
	}
	return set, cleared, w.number, ok
}

// head is the number of the last change.
func (w *warnings) head() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.number
}

// summary is what a status may say: resources, numbers and causes, in a stable
// order, no names of objects. A coarse one does not say which part of an expression
// failed either, which tells what an object contains.
func (w *warnings) summary(coarse bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for id := range w.others {
		out = append(out, w.live[id].Type+": "+w.live[id].Message)
	}
	type cause struct {
		resource resources.Resource
		trouble  trouble
	}
	counts := make(map[cause]int)
	for f, trouble := range w.faults {
		if coarse {
			trouble.text = trouble.coarse
		}
		counts[cause{f.tap.need.resource, trouble}]++
	}
	for c, n := range counts {
		out = append(out, fmt.Sprintf("OBJECT_PROCESSING_FAILED: %s: %d %s: %s", c.resource, n, c.trouble.outcome(), c.trouble.text))
	}
	slices.Sort(out)
	return out
}

func (w *warning) appendJSON(dst []byte) []byte {
	// A warning holds strings alone, so it always encodes.
	text, _ := json.Marshal(w)
	return append(dst, text...)
}
