package watch

import (
	"sync"

	"github.com/klauspost/compress/s2"
)

// Objects of one resource look alike, so each Watch compresses with a
// dictionary made of a few of its own objects: a pod of 5 KB then takes about
// 1.1 KB, and comes back in a microsecond. The dictionary and its table take
// some 60 KiB, so a Watch makes one only when it has objects to share the cost;
// the ones before stay compressed without.
const (
	rawBelow     = 128
	dictAfter    = 16
	dictSize     = 24 << 10
	dictPerThing = 8 << 10
	// typicalStart lets the encoder start each object with a long match.
	typicalStart = `{"apiVersion":"`
)

// scratches are buffers to compress into and to decompress to. They belong to
// nobody between two events, so an idle Watch holds none.
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
func pack(o *Object, name, uid, json []byte, dict *s2.Dict) {
	o.size = uint32(len(json))                          //nolint:gosec // an API server stores no objects of 4 GiB
	o.name, o.uid = uint16(len(name)), uint16(len(uid)) //nolint:gosec // see maxName
	packs, whole := getScratch(), getScratch()
	defer putScratch(packs)
	defer putScratch(whole)
	packed := json
	switch {
	case len(json) < rawBelow:
		o.raw = true
	case dict != nil:
		packed, o.dict = dict.Encode(*packs, json), dict
		*packs = packed[:0]
	default:
		packed = s2.Encode(*packs, json)
		*packs = packed[:0]
	}
	if len(packed) >= len(json) {
		packed, o.raw, o.dict = json, true, nil
	}
	*whole = append(append(append((*whole)[:0], name...), uid...), packed...)
	o.data = string(*whole)
}

// makeDict makes a dictionary of some of objects, or returns nil.
func makeDict(objects *shelf) *s2.Dict {
	var samples, one []byte
	for o := range objects.all {
		var err error
		if one, err = o.unpack(one[:0]); err != nil {
			continue
		}
		samples = append(samples, one[:min(len(one), dictPerThing)]...)
		if len(samples) >= dictSize {
			break
		}
	}
	return s2.MakeDict(samples, []byte(typicalStart))
}
