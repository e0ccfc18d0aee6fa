package graph

import (
	"hash/maphash"
	"maps"
	"math/bits"
)

// labelSet is a set of labels. Objects with the same labels share one, as the pods of a ReplicaSet do.
type labelSet struct {
	labels map[string]string
	hash   uint64
	uses   int32
	payer  spaceID   // see payLabels
	next   *labelSet // of the same hash
}

// labelSets interns label sets by their hash while objects have them.
type labelSets map[uint64]*labelSet

var labelSeed = maphash.MakeSeed()

// hashLabels adds the hashes of the labels, so that their order does not matter and they need no
// sorting.
func hashLabels(labels map[string]string) uint64 {
	var sum uint64
	for k, v := range labels {
		sum += hashLabel(k, v)
	}
	return sum
}

func hashLabel(key, value string) uint64 {
	high, low := bits.Mul64(maphash.String(labelSeed, key)|1, maphash.String(labelSeed, value)^0x9e3779b97f4a7c15)
	return high ^ low
}

// labelHash is the hash of a label, cut off. Objects and selectors are found by hashes, which take less memory
// than labels. A hash may also find those of other labels, so the caller compares the labels.
type labelHash uint32

func hashOf(key, value string) labelHash { return labelHash(hashLabel(key, value)) } //nolint:gosec // cut off

// acquire returns the set with these labels, nil for none. It copies labels.
func (s labelSets) acquire(labels map[string]string) *labelSet {
	if len(labels) == 0 {
		return nil
	}
	hash := hashLabels(labels)
	first := s[hash]
	for set := first; set != nil; set = set.next {
		if maps.Equal(set.labels, labels) {
			set.uses++
			return set
		}
	}
	set := &labelSet{labels: maps.Clone(labels), hash: hash, uses: 1, next: first}
	s[hash] = set
	return set
}

func (s labelSets) release(set *labelSet) {
	if set == nil {
		return
	}
	if set.uses--; set.uses > 0 {
		return
	}
	switch first := s[set.hash]; {
	case first != set:
		for first.next != set {
			first = first.next
		}
		first.next = set.next
	case set.next != nil:
		s[set.hash] = set.next
	default:
		delete(s, set.hash)
	}
}
