package stream

import (
	"context"
	"errors"
)

// Outliving runs an engine until the server has returned: streams are sent the reason for their
// end, and answers that were begun are finished, while there are graphs. If one ends by itself,
// so does the other.
func Outliving(engine, server func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
		defer stopEngine()
		serverCtx, stopServer := context.WithCancel(ctx)
		defer stopServer()
		ended := make(chan error, 1)
		go func() {
			defer stopServer()
			ended <- engine(engineCtx)
		}()
		err := server(serverCtx)
		stopEngine()
		return errors.Join(err, <-ended)
	}
}
