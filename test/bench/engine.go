package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/go-logr/logr"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/must"
	"graphview.dev/test/workload"
)

// runEngine is the engine alone, with one subscriber in the same process.
func runEngine(ctx context.Context, c *child) {
	stopProfile := startProfile(c.CPUProfile)
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: c.config, Logger: logr.Discard()}))
	defer must.End(must.Background(ctx, engine.Run))

	spec := must.Get(workload.Spec(c.view.view()))
	must.Do(engine.Apply(ctx, c.view.id(), "bench", spec))
	served, ok := engine.View(c.view.id())
	if !ok {
		must.Do(errNoView)
	}
	subscription := served.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()
	must.Do(c.read(ctx, subscription, func(frame *delivery.Frame) bool {
		c.Bytes += int64(len(frame.JSON))
		return frame.Synced
	}))
	c.synced()
	stopProfile()
	if c.Name == "summaries" {
		defer must.End(c.readSummaries(ctx, served))
	}
	if c.LastEvent > 0 {
		c.follow(ctx, subscription)
	}
	c.settled(ctx)
	for _, resource := range served.Status().Resources {
		c.Objects += resource.Objects
	}
	writeHeap(c.MemProfile)
}

// read takes frames until one is the last.
func (c *child) read(ctx context.Context, subscription *delivery.Subscription, last func(*delivery.Frame) bool) error {
	for ended := false; !ended; {
		frames, err := subscription.Next(ctx)
		if err != nil {
			return fmt.Errorf("subscription: %w", err)
		}
		for _, frame := range frames {
			ended = last(frame) || ended
		}
	}
	return nil
}

// follow takes the events that come after it has synced.
func (c *child) follow(ctx context.Context, subscription *delivery.Subscription) {
	stopProfile := startProfile(c.EventProfile)
	t := c.ready()
	must.Do(c.read(ctx, subscription, func(frame *delivery.Frame) bool { return t.came(frame.JSON) }))
	t.ended()
	stopProfile()
}

// startProfile begins a CPU profile, if there is a file for it; stop ends it.
func startProfile(path string) (stop func()) {
	if path == "" {
		return func() {}
	}
	file := must.Get(os.Create(path))
	must.Do(pprof.StartCPUProfile(file))
	return func() {
		pprof.StopCPUProfile()
		must.Do(file.Close())
	}
}

// writeHeap writes a heap profile, if there is a file for it.
func writeHeap(path string) {
	if path == "" {
		return
	}
	file := must.Get(os.Create(path))
	must.Do(errors.Join(pprof.WriteHeapProfile(file), file.Close()))
}
