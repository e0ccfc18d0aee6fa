package graphview

import (
	"context"

	"graphview.dev/graphview/watch"
)

// rereadRules has the objects whose references changed rules declare read again,
// from what their watches retain. It blocks while the loop is behind, as watches
// do.
func (e *Engine) rereadRules(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.rules.kick:
		}
		// A feed that is not there yet will find its references by the rules that
		// are: a feed is there before it takes any.
		stale := e.rules.takeStale()
		e.feeds.Range(func(_, value any) bool {
			f := value.(*feed) //nolint:forcetypeassert // nothing else is a feed
			if judge, ok := stale[kindOf(f.resource)]; ok && !f.watch.Key().Reduced {
				e.reread(ctx, f, judge)
			}
			return ctx.Err() == nil
		})
	}
}

// reread is Set again for all objects of a feed, judged again only where views
// have to be told what could not be evaluated.
func (e *Engine) reread(ctx context.Context, f *feed, judge bool) {
	err := f.watch.Replay(ctx, func(o *watch.Decoded) {
		if ev := e.understand(f, o, judge); ev != nil {
			e.send(&rereadEvent{ev})
		}
	})
	if err != nil {
		// The watch ended, and with it what there was to read.
		e.o.Logger.V(1).Info("Reading objects again ended early", "watch", f.watch.Key().String(), "error", err.Error())
	}
}

// rereadEvent is an object that did not change, with what it refers to now. By
// the time the loop gets to it, its watch may have been released.
type rereadEvent struct{ *setEvent }

func (ev *rereadEvent) apply(e *Engine) {
	if f := ev.feed; f.source != 0 && e.graph.Find(f.source, ev.object.Namespace, ev.object.Name) != 0 {
		ev.setEvent.apply(e)
	}
}

// note has the views that select the object told of references that are not
// known.
func (ev *setEvent) note(fault error) {
	for i := range ev.verdicts {
		if ev.verdicts[i].selects() {
			ev.verdicts[i].note(fault)
		}
	}
}

// selects tells whether the tap's view has the object.
func (v *tapVerdict) selects() bool {
	return v.tap.namespaces == nil && !v.tap.need.key.Reduced && !v.verdict.undecided && v.verdict.selection.Member
}

// note adds a fault to the verdict, whose own comes first.
func (v *tapVerdict) note(fault error) {
	if fault != nil && v.verdict.err == nil {
		v.verdict.err = &partialError{fault}
	}
}
