package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

func main() {
	duration := flag.Duration("for", 0, "end after this long; 0: at Ctrl-C")
	fleet := flag.Bool("fleet", false, "start a hub and two members instead")
	flag.Parse()
	must.Main("run", func(ctx context.Context) {
		n, show := 1, run
		if *fleet {
			n, show = 1+len(members), runFleet
		}
		withPlanes(ctx, n, func(planes []*env.ControlPlane) { show(ctx, planes, must.Get(env.ModuleRoot()), *duration) })
	})
}

// withPlanes starts n control planes at the same time, calls do, and stops them.
// After an error it prints their logs, which are deleted with them. The end of ctx is no error.
func withPlanes(ctx context.Context, n int, do func(planes []*env.ControlPlane)) {
	planes := make([]*env.ControlPlane, n)
	var group errgroup.Group
	for i := range planes {
		group.Go(func() (err error) {
			planes[i], err = env.Start(ctx, env.Options{ControllerManager: true, Log: os.Stdout})
			return err
		})
	}
	err := unlessDone(ctx, must.Try(func() {
		must.Do(group.Wait())
		do(planes)
	}))
	for _, plane := range planes {
		if plane == nil {
			continue
		}
		if err != nil {
			fmt.Fprint(os.Stderr, plane.Logs())
		}
		err = errors.Join(err, plane.Stop())
	}
	must.Do(err)
}

// run starts the operator, and shows it for the duration.
func run(ctx context.Context, planes []*env.ControlPlane, root string, duration time.Duration) {
	plane := planes[0]
	manager := startOperator(ctx, plane, root)
	defer stopOperator(ctx, manager)

	// The context ends when the operator exits.
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
	must.Do(unlessDone(ctx, must.Try(func() { show(ctx, plane, manager, root, duration) })))
}

// show prints commands for the running operator, and the address of the page last. It prints nothing afterwards.
func show(ctx context.Context, plane *env.ControlPlane, manager *operator.Operator, root string, duration time.Duration) {
	must.Do(manager.Register(ctx))
	sample := must.Get(newPods(ctx, plane))
	applySamples(ctx, plane, sample, root)
	explain(plane, manager, root)
	page := openDashboard(ctx, plane, root, "The sample changes every few seconds. Its one mistake is that worker-0 misses a ConfigMap. Ctrl-C stops everything.\nOpen the page (the address works once, in one browser); what is red is broken:")
	defer page.stop()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	group, changing := errgroup.WithContext(ctx)
	group.Go(func() error { return changeSample(changing, plane) })
	group.Go(func() error { return sample.run(changing) })
	must.Do(unlessDone(ctx, group.Wait()))
}

// unlessDone returns nil for an error that comes from Ctrl-C or the end of -for.
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
