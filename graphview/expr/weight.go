package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// textLength returns the length of a text in bytes, 0 for other values.
func textLength(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// length returns the number of elements or entries at the first level, 1 for values without a size.
func length(v ref.Val) int {
	if sized, ok := v.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}

// aggregate reports whether a value contains other values.
func aggregate(v ref.Val) bool {
	switch v := v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	case *types.Optional:
		return v.HasValue()
	}
	return false
}

// partsOf counts the parts of a value, and charges two units for each.
func partsOf(m *meter, v ref.Val) (weight, *guardError) {
	w := weight{left: maxCompared}
	w.add(v, 0)
	m.spend(2 * w.parts)
	if w.left < 0 {
		return w, refuse("the values have too many parts to compare; at most %d are allowed", maxCompared)
	}
	return w, nil
}

// weight counts the parts of a value, at all levels, until left is used up. A list may contain another
// list many times, at each level: such a value is small in memory, but reading it takes long.
type weight struct {
	left int

	parts, text, depth int
}

// size returns the cost of reading the whole value, in units.
func (w *weight) size() int { return w.parts + w.text/bytesRead }

func (w *weight) add(v ref.Val, depth int) {
	w.left--
	w.parts++
	w.depth = max(w.depth, depth)
	switch v := v.(type) {
	case types.String, types.Bytes:
		w.text += textLength(v)
	case *types.Optional:
		if v.HasValue() && w.left >= 0 {
			w.add(v.GetValue(), depth+1)
		}
	case traits.Lister:
		for it := v.Iterator(); w.left >= 0 && it.HasNext() == types.True; {
			w.add(it.Next(), depth+1)
		}
	case traits.Mapper:
		for it := v.Iterator(); w.left >= 0 && it.HasNext() == types.True; {
			name := it.Next()
			w.add(name, depth+1)
			if value, ok := v.Find(name); ok && w.left >= 0 {
				w.add(value, depth+1)
			}
		}
	}
}
