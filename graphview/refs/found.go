package refs

import (
	"fmt"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// few is a number of references that most objects do not exceed.
const few = 24

// found collects the references of one object.
type found struct {
	all []graph.Reference
	// seen has the indexes of references by name, once there are more than few.
	seen map[named]int
	// parts counts the references and the terms of selectors. exceeded is set if some were left out.
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
	f.all = append(f.all, *ref)
}

// take reports whether MaxReferences allows n more parts, and counts them if so.
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
	if len(f.all) == 0 {
		return nil
	}
	return &f.all[len(f.all)-1]
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
	if len(f.all) < few {
		for i := range f.all {
			// The first comparison decides nearly every time.
			if other := &f.all[i]; other.Name == ref.Name && nameOf(other) == nameOf(ref) {
				other.Optional = other.Optional && ref.Optional
				return true
			}
		}
		return false
	}
	if f.seen == nil {
		f.seen = make(map[named]int, 2*few)
		for i := range f.all {
			f.seen[nameOf(&f.all[i])] = i
		}
	}
	name := nameOf(ref)
	i, ok := f.seen[name]
	if !ok {
		f.seen[name] = len(f.all)
		return false
	}
	if i < len(f.all) { // unless a bound kept it out
		f.all[i].Optional = f.all[i].Optional && ref.Optional
	}
	return true
}

// allowMissing makes all references optional, but for owner references.
func (f *found) allowMissing() {
	for i := range f.all {
		if ref := &f.all[i]; ref.Type != graph.OwnerReference {
			ref.Optional = true
		}
	}
}
