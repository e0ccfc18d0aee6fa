package refs

import (
	"fmt"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// few is as many references as most objects have at most.
const few = 16

// found collects the references of one object. The first few are kept in
// place, so that a found on the stack costs most objects one allocation: the
// result, of its exact size.
type found struct {
	first [few]graph.Reference
	count int // used of first
	more  []graph.Reference
	// seen is where the references are, by name, once there are more.
	seen map[named]int
	// selectors and terms are how many there are; exceeded is the bound that did
	// not allow more.
	selectors, terms int
	exceeded         *budget.Exceeded
}

// named is what tells the references by name of one object from each other.
type named struct {
	field, namespace, name string
	to                     graph.Kind
	arc                    graph.ArcType
}

func nameOf(r *graph.Reference) named {
	return named{field: r.Field, namespace: r.Namespace, name: r.Name, to: r.To, arc: r.Type}
}

func (f *found) full() bool { return f.count+len(f.more) >= MaxReferences }

// add appends ref unless its field named the same target before: containers
// tend to read many variables from one ConfigMap.
func (f *found) add(ref *graph.Reference) {
	if !exists(ref) || ref.Selector == nil && f.repeated(ref) {
		return
	}
	f.append(ref)
}

// append appends a reference to what can exist, if the bounds allow it.
func (f *found) append(ref *graph.Reference) {
	if f.full() {
		f.exceed(references)
		return
	}
	if ref.Selector != nil {
		more := termsOf(ref.Selector, ref.Namespaces)
		switch {
		case int64(f.selectors) >= selectors.Limit():
			f.exceed(selectors)
			return
		case int64(f.terms+more) > terms.Limit():
			f.exceed(terms)
			return
		}
		f.selectors++
		f.terms += more
	}
	if f.count < few {
		f.first[f.count] = *ref
		f.count++
		return
	}
	f.more = append(f.more, *ref)
}

// exceed notes the first bound that did not allow a reference.
func (f *found) exceed(b *budget.Bound) {
	if f.exceeded == nil {
		f.exceeded = b.Exceed()
	}
}

func (f *found) err() error {
	if f.exceeded == nil {
		return nil
	}
	return fmt.Errorf("its references are not all known: %w", f.exceeded)
}

// repeated tells whether ref was found before; if not, it is from now on. What was
// found is optional only if it always is.
func (f *found) repeated(ref *graph.Reference) bool {
	if f.count < few {
		for i := range f.count {
			// Nearly always decided without comparing the rest.
			if other := &f.first[i]; other.Name == ref.Name && nameOf(other) == nameOf(ref) {
				other.Optional = other.Optional && ref.Optional
				return true
			}
		}
		return false
	}
	if f.seen == nil {
		f.seen = make(map[named]int, 2*few)
		for i := range f.first {
			f.seen[nameOf(&f.first[i])] = i
		}
		for i := range f.more {
			f.seen[nameOf(&f.more[i])] = few + i
		}
	}
	name := nameOf(ref)
	i, ok := f.seen[name]
	if !ok {
		f.seen[name] = f.count + len(f.more)
		return false
	}
	switch {
	case i < few:
		f.first[i].Optional = f.first[i].Optional && ref.Optional
	case i-few < len(f.more): // unless a bound kept it out
		other := &f.more[i-few]
		other.Optional = other.Optional && ref.Optional
	}
	return true
}

// all returns the references, nil if there are none.
func (f *found) all() []graph.Reference {
	if f.count == 0 {
		return nil
	}
	all := make([]graph.Reference, f.count+len(f.more))
	copy(all, f.first[:f.count])
	copy(all[f.count:], f.more)
	return all
}
