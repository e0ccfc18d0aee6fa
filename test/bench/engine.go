package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/must"
	"graphview.dev/test/workload"
)

// runEngine is the engine alone, with one subscriber in the same process.
func runEngine(ctx context.Context, c *child) {
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: c.config, Logger: logr.Discard()}))
	defer must.End(must.Background(ctx, engine.Run))
	view := apply(ctx, engine, whole)
	subscription := view.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()
	read(ctx, subscription, func(frame *delivery.Frame) bool {
		c.Bytes += int64(len(frame.JSON))
		return frame.Synced
	})
	c.synced()
	if c.LastEvent > 0 {
		e := c.ready()
		read(ctx, subscription, func(frame *delivery.Frame) bool { return e.came(frame.JSON) })
		e.ended()
	}
	c.settled(ctx)
	for _, resource := range view.Status().Resources {
		c.Objects += int(resource.Objects)
	}
}

// apply gives an engine a view.
func apply(ctx context.Context, engine *graphview.Engine, l lens) *graphview.View {
	must.Do(engine.Apply(ctx, l.id(), l.name, must.Get(workload.Spec(l.view()))))
	view, ok := engine.View(l.id())
	if !ok {
		must.Do(fmt.Errorf("the engine has no view %s", l.name))
	}
	return view
}

// read reads frames up to the batch with the last one.
func read(ctx context.Context, subscription *delivery.Subscription, last func(*delivery.Frame) bool) {
	for ended := false; !ended; {
		for _, frame := range must.Get(subscription.Next(ctx)) {
			ended = last(frame) || ended
		}
	}
}
