package graphview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// declared is what users declared of one kind, zero if nothing.
type declared struct {
	revision    uint64 // in which that changed last
	expressions []namedExpression
	// health are the expressions that say how an object is. The first one that has an
	// opinion counts.
	health []namedHealth
}

// expressionOrigin is where an expression comes from.
type expressionOrigin struct {
	rule, path string
	work       quarantine.Work
	budget     *costBudget
}

type namedExpression struct {
	expressionOrigin

	program *expr.References
	arc     graph.ArcType
	field   string // of its references
}

type namedHealth struct {
	expressionOrigin

	program *expr.Health
}

// evaluates tells whether there is an expression.
func (d declared) evaluates() bool { return len(d.expressions)+len(d.health) > 0 }

// outcome is what expressions found out about an object.
type outcome struct {
	references []graph.Reference
	// health is nil where no expression has an opinion.
	health *health.Health
	// warning is the first thing that is wrong, in words that hold no value.
	warning error
	cost    uint64
}

// evaluate has the expressions say what they do about an object. One that fails to say
// how the object is makes that unknown.
func (d declared) evaluate(ctx context.Context, e *Engine, of resources.Resource, o *watch.Decoded, deleted bool) outcome {
	if !d.evaluates() {
		return outcome{}
	}
	x := &examination{ctx: ctx, engine: e, input: newInput(o, of)}
	var out outcome
	if !deleted {
		out.health = d.judge(x)
	}
	for i := range d.expressions {
		e := &d.expressions[i]
		found, err := evaluateFor(x, &e.expressionOrigin, func(ctx context.Context) ([]expr.Found, error) { return e.program.Find(ctx, x.input) })
		if errors.Is(err, errGivenUp) {
			break
		}
		for _, f := range found {
			out.references = append(out.references, graph.Reference{
				Type: e.arc, To: graph.Kind{Group: f.Group, Kind: f.Kind}, Namespace: cmp.Or(f.Namespace, o.Namespace()), Name: f.Name,
				Field: e.field,
			})
		}
	}
	out.warning, out.cost = x.warning, x.input.Cost
	return out
}

// judge returns how the object is, nil where no expression has an opinion.
func (d declared) judge(x *examination) *health.Health {
	for i := range d.health {
		e := &d.health[i]
		j, err := evaluateFor(x, &e.expressionOrigin, func(ctx context.Context) (expr.Judgement, error) { return e.program.Judge(ctx, x.input) })
		if err != nil {
			return &health.Health{State: health.Unknown}
		}
		if j.State == "" {
			continue
		}
		var since int64
		if !j.Since.IsZero() {
			since = j.Since.Unix()
		}
		h := health.Declared(health.State(j.State), j.Reason, since)
		h.Ready, h.Wanted, h.Counted = j.Ready, j.Wanted, j.Counted
		return &h
	}
	return nil
}

// errGivenUp: nothing more is evaluated on the object.
var errGivenUp = errors.New("given up")

// examination is the evaluation of the expressions of a kind on one object.
type examination struct {
	ctx     context.Context //nolint:containedctx // that of one evaluate
	engine  *Engine
	input   *expr.Input
	warning error
}

// evaluateFor evaluates one expression at the cost of its rule. Where it cannot, or
// may not, the examination has a warning and the error is not nil; there may be a
// value all the same.
func evaluateFor[T any](x *examination, from *expressionOrigin, evaluate func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if err != nil && !errors.Is(err, errGivenUp) {
			x.warning = cmp.Or(x.warning, err)
		}
	}()
	if x.input.Cost > maxCost {
		x.warning = fmt.Errorf("reference rule %s: %s and those after it: the rules' expressions together cost too much on this object", from.rule, from.path)
		return value, errGivenUp
	}
	if from.budget.exceeded.Load() {
		return value, fmt.Errorf("reference rule %s: %s; simplify them, or remove the rule", from.rule, from.budget.excess("its expressions", "those of the other ReferenceRules"))
	}
	work, err := x.engine.begin(x.ctx, rulesOwner, from.work)
	if err != nil {
		x.warning = fmt.Errorf("reference rule %s: %w", from.rule, err)
		return value, errGivenUp
	}
	defer work.end()
	before := x.input.Cost
	value, err = guarded(func() (T, error) { return evaluate(work.within(x.ctx)) })
	from.budget.charge(x.input.Cost - before)
	if err != nil {
		err = fmt.Errorf("reference rule %s: %s: %w", from.rule, from.path, err)
	}
	return value, err
}

// guarded evaluates an expression. A panic of it costs the object its value alone.
func guarded[T any](evaluate func() (T, error)) (value T, err error) {
	defer panics.Recover(&err)
	return evaluate()
}

var remarkSeed = maphash.MakeSeed()

// declare gives the object a health that its content does not tell.
func (ev *setEvent) declare(h health.Health) {
	ev.classify(h)
	content, _ := ev.object.Payload.(delivery.Object)
	if judged, ok := content.(*delivery.Judged); ok {
		content = judged.Object
	}
	ev.object.Payload = &delivery.Judged{Object: content, Health: h}
	ev.object.Remark = maphash.Comparable(remarkSeed, h) | 1
}
