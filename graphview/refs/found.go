package refs

import (
	"fmt"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// few is the number of references that most objects do not exceed.
const few = 24

// found collects the references of one object. The first few are stored in the struct,
// so that most objects cost one allocation: the result, with its exact size.
type found struct {
	first [few]graph.Reference
	count int // used of first
	more  []graph.Reference
	// seen has the indexes of references by name, once there are more than few.
	seen map[named]int
	// parts counts the references and the terms of selectors. exceeded: some were left out.
	parts    int
	exceeded *budget.Exceeded
}

// named identifies a reference by name within one object.
type named struct {
	field, namespace, name string
	to                     graph.Kind
	arc                    graph.ArcType
}

func nameOf(r *graph.Reference) named {
	return named{field: r.Field, namespace: r.Namespace, name: r.Name, to: r.To, arc: r.Type}
}

// add appends ref unless the same field has a reference to the same target: containers
// often read many variables from one ConfigMap.
func (f *found) add(ref *graph.Reference) {
	if !exists(ref) || ref.Selector == nil && f.repeated(ref) {
		return
	}
	f.append(ref)
}

// append appends a reference if its target can exist and the bounds allow it.
func (f *found) append(ref *graph.Reference) {
	parts := 1
	if ref.Selector != nil {
		parts = termsOf(ref.Selector, ref.Namespaces)
	}
	if !f.take(parts) {
		return
	}
	if f.count < few {
		f.first[f.count] = *ref
		f.count++
		return
	}
	f.more = append(f.more, *ref)
}

// take counts parts, unless these are too many.
func (f *found) take(n int) bool {
	if f.parts+n > MaxReferences {
		if f.exceeded == nil {
			f.exceeded = budget.ObjectParts.Exceed()
		}
		return false
	}
	f.parts += n
	return true
}

// last returns the last reference, nil if there is none.
func (f *found) last() *graph.Reference {
	switch {
	case len(f.more) > 0:
		return &f.more[len(f.more)-1]
	case f.count > 0:
		return &f.first[f.count-1]
	default:
		return nil
	}
}

func (f *found) err() error {
	if f.exceeded == nil {
		return nil
	}
	return fmt.Errorf("its references are not all known: %w", f.exceeded)
}

// repeated reports whether ref was found before, and records it. A reference that was
// found several times is optional only if every one of them is.
func (f *found) repeated(ref *graph.Reference) bool {
	if f.count < few {
		for i := range f.count {
			// The first comparison decides nearly every time.
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
