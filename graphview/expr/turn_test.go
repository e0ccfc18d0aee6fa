package expr

import (
	"context"
	"errors"
	"testing"
)

// TestTurns: compilations wait for a turn, and so do evaluations that cost much; each
// turn ends.
func TestTurns(t *testing.T) {
	refused := errors.New("no turn")
	cheap, costly := "name == 'a'", "lists.range(2000).all(i, lists.range(10).all(j, i >= 0 && j >= 0))"
	for name, test := range map[string]struct {
		text     string
		err      error
		withTurn bool
		want     int // turns of an evaluation
	}{
		"a cheap evaluation":                {text: cheap, withTurn: true},
		"a costly evaluation":               {text: costly, withTurn: true, want: 1},
		"a costly evaluation without turns": {text: costly},
		"no turn for a costly evaluation":   {text: costly, withTurn: true, err: refused, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked, held := 0, 0
			var err error
			wait := func(context.Context) (func(), error) {
				if asked++; err != nil {
					return nil, err
				}
				held++
				return func() { held-- }, nil
			}
			var turn Turn
			if test.withTurn {
				turn = wait
			}
			selector, compiled := CompileObject(t.Context(), turn, test.text)
			if compiled != nil {
				t.Fatal(compiled)
			}
			if (asked == 1) != test.withTurn || held != 0 {
				t.Errorf("compiling asked for %d turns, and holds %d", asked, held)
			}
			err, asked = test.err, 0
			matches, evaluated := selector.Matches(t.Context(), &Input{Name: "a", Turn: turn})
			if !errors.Is(evaluated, test.err) || matches != (test.err == nil) {
				t.Errorf("matches %t, %v; want error %v", matches, evaluated, test.err)
			}
			if asked != test.want || held != 0 {
				t.Errorf("%d turns, %d of them held; want %d", asked, held, test.want)
			}
			if _, uncompiled := CompileObject(t.Context(), func(context.Context) (func(), error) { return nil, refused }, test.text); !errors.Is(uncompiled, refused) {
				t.Errorf("compiled without a turn: %v", uncompiled)
			}
		})
	}
	if _, err := CompileObject(t.Context(), nil, cheap); err != nil {
		t.Errorf("a nil Turn: %v", err)
	}
}
