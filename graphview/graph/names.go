package graph

import "hash/maphash"

// names finds the slot of a name: a hash table with linear probing. It keeps the
// hash and the id of each, eight bytes where a map would keep the name again, so
// it grows without looking at a slot.
type names struct {
	cells []cell // their number is a power of two
	used  int
}

type cell struct {
	hash uint32
	slot slotID // 0 for an empty cell
}

var nameSeed = maphash.MakeSeed()

func hashName(kind kindID, space spaceID, name string) uint32 {
	h := maphash.String(nameSeed, name) ^ (uint64(kind)<<32|uint64(space))*0x9e3779b97f4a7c15
	return uint32(h ^ h>>32) //nolint:gosec // folded
}

// findSlot returns the slot of a name, 0 if there is none, and the name's hash.
func (g *Graph) findSlot(kind kindID, space spaceID, name string) (slotID, uint32) {
	hash := hashName(kind, space, name)
	cells := g.names.cells
	if len(cells) == 0 {
		return 0, hash
	}
	mask := uint32(len(cells) - 1) //nolint:gosec // ids have 32 bits
	for i := hash & mask; cells[i].slot != 0; i = (i + 1) & mask {
		if cells[i].hash != hash {
			continue
		}
		if s := g.slots.at(cells[i].slot); s.kind == kind && s.space == space && s.name == name {
			return cells[i].slot, hash
		}
	}
	return 0, hash
}

// add puts in a slot whose name has no other.
func (t *names) add(hash uint32, id slotID) {
	if 4*(t.used+1) > 3*len(t.cells) {
		t.resize(max(64, 2*len(t.cells)))
	}
	t.put(cell{hash, id})
	t.used++
}

func (t *names) put(c cell) {
	mask := uint32(len(t.cells) - 1) //nolint:gosec // ids have 32 bits
	i := c.hash & mask
	for t.cells[i].slot != 0 {
		i = (i + 1) & mask
	}
	t.cells[i] = c
}

// remove takes a slot out, and moves those after it that it had kept from their
// place (Knuth, The Art of Computer Programming 6.4, algorithm R).
func (t *names) remove(hash uint32, id slotID) {
	mask := uint32(len(t.cells) - 1) //nolint:gosec // ids have 32 bits
	i := hash & mask
	for t.cells[i].slot != id {
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		c := t.cells[j]
		if c.slot == 0 {
			break
		}
		// It may move unless its own place lies after the gap.
		if home := c.hash & mask; (j-home)&mask >= (j-i)&mask {
			t.cells[i] = c
			i = j
		}
	}
	t.cells[i] = cell{}
	t.used--
	if len(t.cells) > 1024 && 16*t.used < len(t.cells) {
		t.resize(len(t.cells) / 4)
	}
}

// resize changes the number of cells.
func (t *names) resize(cells int) {
	before := t.cells
	t.cells = make([]cell, cells)
	for _, c := range before {
		if c.slot != 0 {
			t.put(c)
		}
	}
}
