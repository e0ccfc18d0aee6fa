package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

func main() {
	duration := flag.Duration("for", 0, "end after this long; 0: at Ctrl-C")
	fleet := flag.Bool("fleet", false, "start a hub and two members instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	start := run
	if *fleet {
		start = runFleet
	}
	err := start(ctx, *duration)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

// run starts everything, shows it for a while, and ends everything. That ctx is
// done is no error.
func run(ctx context.Context, duration time.Duration) (err error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	plane, err := env.Start(ctx, env.Options{ControllerManager: true, Log: os.Stdout})
	if err != nil {
		return unlessDone(ctx, err)
	}
	defer func() {
		if err != nil {
			fmt.Fprint(os.Stderr, plane.Logs()) // they go with the control plane
		}
		err = errors.Join(err, plane.Stop())
	}()

	manager, err := startOperator(ctx, plane, root)
	if err != nil {
		return unlessDone(ctx, err)
	}
	defer stopOperator(ctx, manager)

	// Whatever waits below gives up when the operator does.
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-manager.Done():
			cancel(manager.Exited())
		case <-ctx.Done():
		}
	}()
	defer func() {
		cancel(context.Canceled)
		<-watched
	}()
	return unlessDone(ctx, show(ctx, plane, manager, root, duration))
}

// show prints how to look at the running operator, the address of the page last, and is silent afterwards.
func show(ctx context.Context, plane *env.ControlPlane, manager *operator.Operator, root string, duration time.Duration) error {
	if err := manager.Register(ctx); err != nil {
		return err
	}
	if err := applySamples(ctx, plane, root); err != nil {
		return err
	}
	explain(plane, manager, root)
	page, err := openDashboard(ctx, plane, root, "The sample changes every few seconds. Ctrl-C stops everything.\nOpen the page (the address works once, in one browser); what is red is broken:")
	if err != nil {
		return err
	}
	defer page.stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	return unlessDone(ctx, changeSample(ctx, plane))
}

// unlessDone turns an error that is only Ctrl-C, or the end of -for, into none.
func unlessDone(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return nil
	default:
		return cause
	}
}
