package graphview

import (
	"time"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// revised is called by the writer after each revision.
func (e *Engine) revised(took time.Duration) {
	e.counts.revisions.Add(1)
	e.revisionTime.Observe(took.Seconds())
	e.tellExceedances()
}

// tellExceedances tells the views that have an object that it began or ceased to
// exceed a bound of the graph. Only the loop calls it.
func (e *Engine) tellExceedances() {
	for _, x := range e.graph.Exceedances() {
		has := make(map[*graph.Lens]bool, len(x.Lenses))
		for _, l := range x.Lenses {
			has[l] = true
		}
		for _, source := range x.Sources {
			f := e.bySource[source]
			if f == nil {
				continue
			}
			for _, t := range f.taps.every() {
				if !t.closed && t.need.OfObjects() && has[t.view.lens] {
					t.view.warnings.SetExceeded(t, x.Namespace, x.Name, exceeded(x.Err))
				}
			}
		}
	}
}

// exceeded is what is told of an object that exceeds a bound of the graph, nil for
// none.
func exceeded(err error) error {
	if err == nil {
		return nil
	}
	return &delivery.PartialError{Err: err, OfBound: true}
}
