package graphview

import (
	"graphview.dev/graphview/graph"
)

// graphError is about an object whose references would make more in the graph than
// they may. The object is selected all the same.
type graphError struct{ error }

func (e *graphError) Unwrap() error { return e.error }

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
			for _, t := range *f.taps.Load() {
				if !t.closed && t.namespaces == nil && has[t.view.lens] {
					t.view.warnings.setExceeded(t, x.Namespace, x.Name, exceeded(x.Err))
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
	return &partialError{&graphError{err}}
}

// setExceeded says that an object exceeds a bound of the graph, or with a nil err
// that it does not. What else is wrong with it is told first.
func (w *warnings) setExceeded(t *tap, namespace, name string, err error) {
	w.mu.Lock()
	now, known := w.faults[fault{t, namespace, name}]
	w.mu.Unlock()
	if !known || now.ofGraph {
		w.setFault(t, namespace, name, err)
	}
}
