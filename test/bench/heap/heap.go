package heap

import "runtime"

// Noise is the memory that the process itself may take between two measurements, for stacks and pools.
const Noise = 64 << 10

// Held returns the number of allocated bytes after a garbage collection, with the stacks.
func Held() int64 {
	for range 3 { // pools and finalizers take more than one
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) + int64(m.StackInuse)
}
