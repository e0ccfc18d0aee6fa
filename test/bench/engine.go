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
)

// runEngine is the engine alone, with one subscriber in the same process.
func runEngine(ctx context.Context, c *child) (err error) {
	stopProfile, err := startProfile(c.cpuProfile)
	if err != nil {
		return err
	}
	engine, err := graphview.NewEngine(graphview.Options{Config: c.config, Logger: logr.Discard()})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- engine.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done)
	}()

	spec, err := c.view.spec()
	if err != nil {
		return err
	}
	if err := engine.Apply(ctx, c.view.id(), "bench", spec); err != nil {
		return err
	}
	served, ok := engine.View(c.view.id())
	if !ok {
		return errNoView
	}
	subscription := served.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()
	if err := c.read(ctx, subscription, func(frame *delivery.Frame) bool {
		c.Bytes += int64(len(frame.JSON))
		return frame.Synced
	}); err != nil {
		return err
	}
	if err := errors.Join(c.synced(), stopProfile()); err != nil {
		return err
	}
	if c.summaries {
		end, failed := c.readSummaries(ctx, served)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	if c.events > 0 {
		if err := c.follow(ctx, subscription); err != nil {
			return err
		}
	}
	if err := c.settled(ctx); err != nil {
		return err
	}
	for _, resource := range served.Status().Resources {
		c.Objects += resource.Objects
	}
	return writeHeap(c.memProfile)
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
func (c *child) follow(ctx context.Context, subscription *delivery.Subscription) error {
	stopProfile, err := startProfile(c.eventProfile)
	if err != nil {
		return err
	}
	t, err := c.ready()
	if err != nil {
		return err
	}
	if err := c.read(ctx, subscription, func(frame *delivery.Frame) bool { return t.came(frame.JSON) }); err != nil {
		return err
	}
	return errors.Join(t.ended(), stopProfile())
}

// startProfile begins a CPU profile, if there is a file for it; stop ends it.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("CPU profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("CPU profile: %w", err), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// writeHeap writes a heap profile, if there is a file for it.
func writeHeap(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("heap profile: %w", err)
	}
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}
