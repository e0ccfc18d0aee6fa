package heap

import "runtime"

// Held is how many bytes are allocated after a garbage collection, stacks included.
func Held() int64 {
	for range 3 { // pools and finalizers take more than one
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) + int64(m.StackInuse)
}
