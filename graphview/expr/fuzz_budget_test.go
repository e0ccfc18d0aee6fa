package expr

import (
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// What one input of a fuzz target may take, from its text to its result.
const (
	maxFuzzTime  = 2 * time.Second
	maxFuzzBytes = 256 << 20
)

// spends fails the test if what is done takes more than an input may.
func spends(t *testing.T, do func()) {
	t.Helper()
	before, started := allocated(), worked(t)
	do()
	if made := allocated() - before; made > maxFuzzBytes {
		t.Errorf("%d bytes were made", made)
	}
	if took := worked(t) - started; took > maxFuzzTime {
		t.Errorf("took %v", took)
	}
}

// worked is the processor time of the process, on which a machine that is busy with
// other things has no influence.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
