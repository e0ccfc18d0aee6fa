package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// record is the memory of the reconciler about a view. It may be lost at any time: it saves work and
// writes, and every decision also follows from the GraphView and the engine.
type record struct {
	uid types.UID
	// met is the time of the first reconcile in this process, or of the election of this replica to write status.
	met time.Time
	// applied is the generation of the spec that was last applied to the engine, 0 for none,
	// and verdict its outcome.
	applied int64
	verdict verdict
	// ready is the last generation with a complete graph, 0 for none.
	ready int64
	// written is the status, see statusOf, as it was after our last write of it at
	// wroteAt; nil before the first. The cache may lag behind it.
	written *v1alpha1.GraphView
	wroteAt time.Time
	// writing reports whether this replica was the writer of status at the last reconcile.
	writing    bool
	refused    refusal // zero after a successful write
	namespaces namespaceAdvice
}

// newest returns the newer of the cached GraphView and the one last written. Comparing with an
// older one would lose a write: a status that returns to the cached value would not be written.
func (r *record) newest(cached *v1alpha1.GraphView) *v1alpha1.GraphView {
	if r.written == nil {
		return cached
	}
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, r.written.ResourceVersion)
	if err != nil || order >= 0 {
		return cached
	}
	return r.written
}

// memory holds the records of all views. A record is used by one reconcile at a
// time; the mutex is for the map alone.
type memory struct {
	mu      sync.Mutex
	records map[graphview.Name]*record
}

// of returns the record of a view, a new one if there is none for that uid. It reports in replaced
// whether there was a record for another uid.
func (m *memory) of(name graphview.Name, uid types.UID) (r *record, replaced bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.records[name]
	if before != nil && before.uid == uid {
		return before, false
	}
	if m.records == nil {
		m.records = map[graphview.Name]*record{}
	}
	r = &record{uid: uid}
	m.records[name] = r
	return r, before != nil
}

func (m *memory) forget(name graphview.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, name)
}
