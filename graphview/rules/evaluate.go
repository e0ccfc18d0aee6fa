package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/quota"
)

// Expressions holds the expressions of one kind, zero if there are none.
type Expressions struct {
	// Revision is the revision of the last change to the kind's rules, 0 if there are none.
	Revision   uint64
	references []referenceExpression
	// health has the expressions for the object's health. The first that returns a state counts.
	health []healthExpression
}

// origin is the field of a rule that holds an expression.
type origin struct {
	rule, path string
	budget     *quota.Budget
}

type referenceExpression struct {
	origin

	program *expr.References
	arc     graph.ArcType
	field   string // of its references
}

type healthExpression struct {
	origin

	program *expr.Health
}

// Evaluates reports whether the kind has expressions.
func (k Expressions) Evaluates() bool { return len(k.references)+len(k.health) > 0 }

// Outcome is the result of a kind's expressions on one object.
type Outcome struct {
	References []graph.Reference
	// Health is nil if no expression returns a state.
	Health *health.Health
	// Warning is the first error, or why the evaluation ended. It contains no values of the object.
	Warning error
	Cost    uint64
	// Late reports that the evaluation is postponed: the turn of the input is expr.Postpone, and the
	// expressions together cost more than expr.TurnCost. References and Warning are not complete, and
	// neither is Health if HealthLate is set.
	Late, HealthLate bool
}

// fieldPrefix begins the Field of each reference that an expression finds.
const fieldPrefix = "referencerule/"

// Evaluate evaluates the expressions on an object. The health of an object is unknown if
// its expression fails, and not evaluated while the object is being deleted.
func (k Expressions) Evaluate(ctx context.Context, in *expr.Input, terminating bool) Outcome {
	ev := &evaluation{ctx: ctx, input: in}
	defer ev.releaseTurn()
	var out Outcome
	if !terminating {
		out.Health = k.judge(ev)
		out.HealthLate = ev.late
	}
	for i := range k.references {
		e := &k.references[i]
		found, err := evaluateFor(ev, &e.origin, func(ctx context.Context) ([]expr.Found, error) { return e.program.Find(ctx, in) })
		if errors.Is(err, errGivenUp) {
			break
		}
		for _, f := range found {
			out.References = append(out.References, graph.Reference{
				Type: e.arc, To: graph.Kind{Group: f.Group, Kind: f.Kind}, Namespace: cmp.Or(f.Namespace, in.Namespace), Name: f.Name,
				Field: e.field,
			})
		}
	}
	out.Warning, out.Cost, out.Late = ev.warning, in.Cost, ev.late
	return out
}

// judge returns the object's health, nil if no expression returns a state.
func (k Expressions) judge(ev *evaluation) *health.Health {
	for i := range k.health {
		e := &k.health[i]
		j, err := evaluateFor(ev, &e.origin, func(ctx context.Context) (expr.Judgement, error) { return e.program.Judge(ctx, ev.input) })
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

// errGivenUp means that no further expression is evaluated on the object.
var errGivenUp = errors.New("given up")

// evaluation is the evaluation of all expressions on one object.
type evaluation struct {
	ctx     context.Context //nolint:containedctx // that of one Evaluate
	input   *expr.Input
	warning error
	late    bool
	// release ends the turn that the expressions take once they cost expr.TurnCost; nil before.
	release func()
}

// acquireTurn waits for a turn once the cost is expr.TurnCost. All further expressions share the turn.
func (ev *evaluation) acquireTurn() error {
	if ev.release != nil || ev.input.Cost < expr.TurnCost {
		return nil
	}
	release, err := ev.input.Turn.Acquire(ev.ctx)
	if err != nil {
		return err
	}
	ev.release, ev.input.Turn = release, nil
	return nil
}

func (ev *evaluation) releaseTurn() {
	if ev.release != nil {
		ev.release()
	}
}

// evaluateFor evaluates one expression, and charges its cost to the budget of its rule. An error except
// errGivenUp becomes the warning; there may be a value as well.
func evaluateFor[T any](ev *evaluation, from *origin, evaluate func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if err != nil && !errors.Is(err, errGivenUp) {
			ev.warning = cmp.Or(ev.warning, err)
		}
	}()
	if ev.input.Cost > quota.MaxCost {
		ev.warning = fmt.Errorf("reference rule %s: %s and those after it: the rules' expressions together cost too much on this object", from.rule, from.path)
		return value, errGivenUp
	}
	if from.budget.Exceeded() {
		return value, fmt.Errorf("reference rule %s: %s; simplify them, or remove the rule", from.rule, from.budget.Excess("its expressions", "those of the other ReferenceRules"))
	}
	if ev.late {
		return value, errGivenUp
	}
	if err := ev.acquireTurn(); err != nil {
		ev.late = errors.Is(err, expr.ErrPostponed)
		return value, errGivenUp
	}
	before := ev.input.Cost
	value, err = recovered(func() (T, error) { return evaluate(ev.ctx) })
	from.budget.Charge(ev.input.Cost - before)
	if errors.Is(err, expr.ErrPostponed) {
		ev.late = true
		return value, errGivenUp
	}
	if err != nil {
		err = fmt.Errorf("reference rule %s: %s: %w", from.rule, from.path, err)
	}
	return value, err
}

// recovered calls evaluate, and returns a panic as an error.
func recovered[T any](evaluate func() (T, error)) (value T, err error) {
	defer panics.Recover(&err)
	return evaluate()
}
