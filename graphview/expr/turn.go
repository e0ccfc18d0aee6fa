package expr

import "context"

// TurnCost is what an evaluation may cost before it waits for a turn, in units: about a
// millisecond.
const TurnCost = 10_000

// Turn waits until costly work may go on. release, which is called once, ends the turn.
// An error ends the work.
type Turn func(ctx context.Context) (release func(), err error)

type turnKey struct{}

// WithTurn returns a context under which each compilation of an expression waits for a
// turn, and each evaluation that costs more than TurnCost. With nil they do not wait: their
// caller has a turn, or needs none.
func WithTurn(ctx context.Context, wait Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, wait)
}

// acquire waits for the turn of a context.
func acquire(ctx context.Context) (release func(), err error) {
	if wait, ok := ctx.Value(turnKey{}).(Turn); ok && wait != nil {
		return wait(ctx)
	}
	return func() {}, nil
}
