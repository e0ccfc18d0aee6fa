package graphview

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/history"
)

// ErrNoHistory: the engine records no changes.
var ErrNoHistory = errors.New("the history is off")

// Changes answers a question about the history of the view; see delivery.Publisher.Changes. It sets the
// fields of the question from Log on. The error may be ErrNoHistory.
func (v *View) Changes(ctx context.Context, q delivery.ChangesQuery, access delivery.Access) (*delivery.Changes, error) {
	e := v.engine
	if e.o.History == nil {
		return nil, ErrNoHistory
	}
	q.Log, q.Mark, q.Foreign = e.o.History, v.mark(), e.foreign
	if q.Until == 0 {
		q.Until = max(time.Now().UnixMicro(), q.Log.Newest()) // it may be later than now if the clock was set back
	}
	q.Since = max(q.Since, v.historyBegun(e.o.History.Resumed()))
	return v.publisher.Changes(ctx, &q, access)
}

// Past returns the value of SubscribeOptions.Past for the graph at a time, in microseconds since 1970, and the time
// from which on it can be had. The error is ErrNoHistory.
func (v *View) Past(at int64) (past *delivery.Past, since int64, err error) {
	log := v.engine.o.History
	if log == nil {
		return nil, 0, ErrNoHistory
	}
	since = v.historyBegun(0)
	for _, namespace := range log.Namespaces(at) {
		if v.concerns(namespace) {
			since = max(since, log.Since(namespace))
		}
	}
	return &delivery.Past{Past: log.Past(at), Mark: v.mark(), Foreign: v.engine.foreign}, since, nil
}

// Gaps returns the gaps of the history after a time.
func (v *View) Gaps(since int64) []history.Gap {
	if v.engine.o.History == nil {
		return nil
	}
	return v.engine.o.History.Gaps(since)
}

// concerns reports whether the view may show objects of a namespace.
func (v *View) concerns(namespace string) bool {
	names := v.state.Scope().Namespaces
	return names == nil || namespace == "" || names[namespace]
}

// mark returns the number of the view in the history, 0 for an ad-hoc view.
func (v *View) mark() uint32 {
	if !v.named {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(v.uid)) // never fails
	return h.Sum32() | 1
}

// historyBegun returns the time from which the history has all resources of the view, of this process alone if
// resumed is 0. Else it is the time at which the history resumed that of an earlier process: watches that began
// soon after are continued, and the changes in the gap have entries with a range.
func (v *View) historyBegun(resumed int64) int64 {
	begun := v.engine.o.History.Since("")
	for _, f := range v.engine.intake.Feeds() {
		if f.Feeds(v.evaluator) && (resumed == 0 || f.Begun() > resumed+history.ResumeWithin.Microseconds()) {
			begun = max(begun, f.Begun())
		}
	}
	return begun
}

// foreign reports whether a namespace may be another one of the same name than at a time. A process with the rights
// of one user has shown nothing that this user could not see.
func (e *Engine) foreign(namespace string, at int64) bool {
	return e.o.Own == nil && e.o.History.Foreign(namespace, at)
}
