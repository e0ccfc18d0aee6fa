// Package weakmap maps keys to values without keeping the values alive: when the garbage collector
// frees a value, its entry is removed.
package weakmap

import (
	"runtime"
	"sync"
	"weak"
)

// Map is a map with weak values. It is safe for concurrent use. The zero value is empty.
type Map[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

// Get returns the value of a key, nil if there is none.
func (m *Map[K, V]) Get(key K) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key].Value()
}

// Add adds a value, unless the key has one. It returns the value of the key. A key must not point to
// its value, because the value would then never be freed.
func (m *Map[K, V]) Add(key K, value *V) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if present := m.values[key].Value(); present != nil {
		return present
	}
	if m.values == nil {
		m.values = make(map[K]weak.Pointer[V])
	}
	m.values[key] = weak.Make(value)
	runtime.AddCleanup(value, m.forget, key)
	return value
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// forget removes the entry of a freed value, unless Add has replaced the value.
func (m *Map[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[key].Value() == nil {
		delete(m.values, key)
	}
}
