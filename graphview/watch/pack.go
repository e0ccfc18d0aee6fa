package watch

import "sync"

// rawBelow is how much JSON is not worth compressing.
const rawBelow = 128

// scratches are buffers for compression and decompression. An idle Watch holds none.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

func getScratch() *[]byte {
	return scratches.Get().(*[]byte) //nolint:forcetypeassert // New makes nothing else
}

func putScratch(b *[]byte) {
	if cap(*b) <= 1<<20 {
		scratches.Put(b)
	}
}

// pack retains a name, a UID, neither longer than maxName, and json, compressed.
func pack(o *Object, name, uid, json []byte, c *codec) {
	o.size = uint32(len(json))                          //nolint:gosec // an API server stores no objects of 4 GiB
	o.name, o.uid = uint16(len(name)), uint16(len(uid)) //nolint:gosec // see maxName
	packs, whole := getScratch(), getScratch()
	defer putScratch(packs)
	defer putScratch(whole)
	packed := json
	if len(json) >= rawBelow {
		packed, o.codec = c.encode(*packs, json), c
		*packs = packed[:0]
	}
	if len(packed) >= len(json) {
		packed, o.codec = json, nil
		o.flags |= plain
	}
	*whole = append(append(append((*whole)[:0], name...), uid...), packed...)
	o.data = string(*whole)
}
