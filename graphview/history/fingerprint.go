package history

import (
	"hash"
	"hash/fnv"
)

// entered are the objects with members that Compare ignores.
var entered = set("metadata metadata.annotations")

// Fingerprint returns a hash of the fields of an object that Compare looks at. It is the same in all processes, and
// never 0. It takes the compact JSON.
func Fingerprint(kind string, object []byte) uint64 {
	h := fnv.New64a()
	fingerprint(h, "", object, heartbeats[kind])
	return max(h.Sum64(), 1)
}

func fingerprint(h hash.Hash, at string, object []byte, beats map[string]bool) {
	for m := range members(object) {
		path := member(at, string(m.Name))
		if ignored[path] || beats[path] {
			continue
		}
		_, _ = h.Write(m.Name) // never fails
		if len(m.Value) > 0 && m.Value[0] == '{' && (entered[path] || beats != nil && at == "") {
			fingerprint(h, path, m.Value, beats)
		} else {
			_, _ = h.Write(m.Value) // never fails
		}
		_, _ = h.Write([]byte{0}) // never fails
	}
}
