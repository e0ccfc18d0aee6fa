package stream

import (
	"context"
	"errors"
	"testing"
)

// TestOutliving: the engine has its graphs until the server has said goodbye, and
// neither goes on without the other.
func TestOutliving(t *testing.T) {
	errEngine := errors.New("the engine failed")
	until := func(ctx context.Context) error { <-ctx.Done(); return nil }
	for name, test := range map[string]struct {
		engine  func(context.Context) error
		stops   bool
		wantErr error
	}{
		"it is stopped":         {engine: until, stops: true},
		"the engine ends early": {engine: func(context.Context) error { return errEngine }, wantErr: errEngine},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var engineCtx context.Context
			begun := make(chan struct{})
			engine := func(ctx context.Context) error {
				engineCtx = ctx //nolint:fatcontext // the test looks at it
				close(begun)
				return test.engine(ctx)
			}
			server := func(ctx context.Context) error {
				<-begun
				if test.stops {
					stop()
				}
				<-ctx.Done()
				if engineCtx.Err() != nil {
					t.Error("the engine is told to stop before the server has ended")
				}
				return nil
			}
			if err := Outliving(engine, server)(ctx); !errors.Is(err, test.wantErr) {
				t.Errorf("%v, want %v", err, test.wantErr)
			}
		})
	}
}
