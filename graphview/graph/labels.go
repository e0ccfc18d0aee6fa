package graph

import (
	"maps"
	"slices"
	"strings"
)

// pair is one label of an object.
type pair struct{ key, value string }

// labelSet is the labels of objects: shared between all that have the same
// ones, as the pods of a ReplicaSet do.
type labelSet struct {
	labels map[string]string
	id     string
	uses   int
}

// labelSets interns label sets while they are used.
type labelSets map[string]*labelSet

// acquire returns the set with these labels, nil for none. It copies labels.
func (s labelSets) acquire(labels map[string]string) *labelSet {
	if len(labels) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(labels))
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(labels[k])
		b.WriteByte(0)
	}
	set, ok := s[b.String()]
	if !ok {
		set = &labelSet{labels: maps.Clone(labels), id: b.String()}
		s[set.id] = set
	}
	set.uses++
	return set
}

func (s labelSets) release(set *labelSet) {
	if set == nil {
		return
	}
	if set.uses--; set.uses == 0 {
		delete(s, set.id)
	}
}
