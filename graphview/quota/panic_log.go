package quota

import (
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/panics"
)

// panicLog logs panics, but each source line at most once per panicLogEvery: one bug may cause a
// panic for each of a hundred thousand objects.
type panicLog struct {
	logger logr.Logger

	mu    sync.Mutex
	count uint64
	last  map[string]time.Time
}

const (
	// panicLogEvery is the minimum time between two logs of one source line.
	panicLogEvery = time.Minute
	// maxPanicPlaces limits the source lines that a panicLog remembers.
	maxPanicPlaces = 64
)

// due counts a panic, and reports whether it has to be logged.
func (l *panicLog) due(at string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if last, ok := l.last[at]; ok && now.Sub(last) < panicLogEvery {
		return false
	}
	if l.last == nil || len(l.last) >= maxPanicPlaces {
		l.last = make(map[string]time.Time)
	}
	l.last[at] = now
	return true
}

// LogPanic counts and logs err if it is a recovered panic, and reports whether it is one. of is the
// resource or the kind of spec that the panic is about. The log does not name objects.
func (p *Processors) LogPanic(err error, of string) bool {
	recovered, ok := errors.AsType[*panics.Error](err)
	if !ok {
		return false
	}
	if p.panics.due(recovered.At, time.Now()) {
		p.panics.logger.Error(recovered, "A panic was recovered; please report it", "of", of, "cause", recovered.Cause, "stack", recovered.Stack)
	}
	return true
}

// Panics returns the number of recovered panics.
func (p *Processors) Panics() uint64 {
	p.panics.mu.Lock()
	defer p.panics.mu.Unlock()
	return p.panics.count
}
