//go:build !race

package expr

import (
	"runtime/metrics"
	"testing"
)

// maxFuzzBytes bounds the memory that one input of a fuzz target allocates, from its text to its
// result.
const maxFuzzBytes = 256 << 20

// spends fails the test if do allocates more than an input may.
func spends(t *testing.T, do func()) {
	t.Helper()
	before := allocated()
	do()
	if made := allocated() - before; made > maxFuzzBytes {
		t.Errorf("%d bytes were made", made)
	}
}

// allocated is how many bytes the process has allocated since it began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// hostileObject is what fuzz targets evaluate on. It is only read.
var hostileObject = func() map[string]any {
	object := deployment()
	for key, value := range hostile() {
		if object[key] == nil {
			object[key] = value
		}
	}
	return object
}()
