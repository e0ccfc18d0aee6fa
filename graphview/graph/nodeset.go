package graph

import (
	"cmp"
	"slices"
)

// A nodeSet is a sorted set of nodes. It is divided into chunks, so that a change of a large set moves
// few nodes.
type nodeSet struct {
	chunks [][]nodeID // none is empty
	size   int
}

// chunkSize is the largest number of nodes in a chunk.
const chunkSize = 512

// chunkOf returns the index of the chunk that has a node, or would have it.
func (s *nodeSet) chunkOf(id nodeID) int {
	at, found := slices.BinarySearchFunc(s.chunks, id, func(c []nodeID, id nodeID) int { return cmp.Compare(c[0], id) })
	if found || at == 0 {
		return at
	}
	return at - 1
}

func (s *nodeSet) add(id nodeID) {
	i := s.chunkOf(id)
	if i == len(s.chunks) {
		s.chunks = append(s.chunks, []nodeID{id})
		s.size++
		return
	}
	c := s.chunks[i]
	at, found := slices.BinarySearch(c, id)
	if found {
		return
	}
	s.size++
	if len(c) < chunkSize {
		s.chunks[i] = slices.Insert(c, at, id)
		return
	}
	// Ids mostly grow, so a full chunk at the end is not split.
	half := chunkSize / 2
	if i == len(s.chunks)-1 && at == len(c) {
		half = chunkSize
	}
	next := slices.Clone(c[half:])
	s.chunks[i] = c[:half:half]
	s.chunks = slices.Insert(s.chunks, i+1, next)
	if at > half || half == chunkSize {
		s.chunks[i+1] = slices.Insert(next, at-half, id)
	} else {
		s.chunks[i] = slices.Insert(s.chunks[i], at, id)
	}
}

func (s *nodeSet) remove(id nodeID) {
	i := s.chunkOf(id)
	if i == len(s.chunks) {
		return
	}
	c := s.chunks[i]
	at, found := slices.BinarySearch(c, id)
	if !found {
		return
	}
	s.size--
	c = slices.Delete(c, at, at+1)
	s.chunks[i] = c
	switch {
	case len(c) == 0:
		s.chunks = slices.Delete(s.chunks, i, i+1)
	case i > 0 && len(s.chunks[i-1])+len(c) <= chunkSize/2:
		s.chunks[i-1] = append(s.chunks[i-1], c...)
		s.chunks = slices.Delete(s.chunks, i, i+1)
	case i+1 < len(s.chunks) && len(s.chunks[i+1])+len(c) <= chunkSize/2:
		s.chunks[i] = append(c, s.chunks[i+1]...)
		s.chunks = slices.Delete(s.chunks, i+1, i+2)
	}
}

// visit visits the nodes in order.
func (s *nodeSet) visit(visit func(nodeID)) {
	for _, c := range s.chunks {
		for _, id := range c {
			visit(id)
		}
	}
}
