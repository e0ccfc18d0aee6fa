package graphview

import (
	"errors"
	"sync"
	"time"

	"graphview.dev/graphview/panics"
)

// panicLog remembers where panics were recovered, so that one mistake, met at each
// of a hundred thousand objects, does not fill the log.
type panicLog struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	// panicLogEvery is how often one place is logged.
	panicLogEvery = time.Minute
	// maxPanicPlaces bounds the places that are remembered.
	maxPanicPlaces = 64
)

// due tells whether a panic at that place is to be logged.
func (l *panicLog) due(at string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.last[at]; ok && now.Sub(last) < panicLogEvery {
		return false
	}
	if l.last == nil || len(l.last) >= maxPanicPlaces {
		l.last = make(map[string]time.Time)
	}
	l.last[at] = now
	return true
}

// notePanic counts and logs an error that was a panic, and tells whether it was
// one. of is the resource, or the view, that it happened to: the name of the object
// is said by whoever tells of the error.
func (e *Engine) notePanic(err error, of string) bool {
	p, ok := errors.AsType[*panics.Error](err)
	if !ok {
		return false
	}
	e.counts.panics.Add(1)
	if e.panicked.due(p.At, time.Now()) {
		e.o.Logger.Error(p, "A panic was recovered; please report it", "of", of, "cause", p.Cause, "stack", p.Stack)
	}
	return true
}
