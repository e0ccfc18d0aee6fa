package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/go-logr/logr"

	"graphview.dev/graphview"
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

	name := graphview.Name{Namespace: viewNamespace, Name: viewName}
	include := func(expression string) graphview.Query {
		return graphview.Query{Include: &graphview.Include{ResourceSelectorExpression: expression}}
	}
	if err := engine.Apply(name, "bench", graphview.Spec{Queries: []graphview.Query{include(coreQuery), include(appsQuery)}}); err != nil {
		return err
	}
	served, ok := engine.View(name)
	if !ok {
		return errors.New("the engine does not know its view")
	}
	subscription := served.Subscribe(graphview.SubscribeOptions{})
	defer subscription.Close()
	for synced := false; !synced; {
		frames, err := subscription.Next(ctx)
		if err != nil {
			return fmt.Errorf("subscription: %w", err)
		}
		for _, frame := range frames {
			c.Bytes += int64(len(frame.JSON))
			synced = synced || frame.Synced
		}
	}
	if err := c.synced(); err != nil {
		return err
	}
	if err := stopProfile(); err != nil {
		return err
	}
	if err := c.settled(ctx); err != nil {
		return err
	}
	for _, resource := range served.Status().Resources {
		c.Objects += resource.Objects
	}
	return writeHeap(c.memProfile)
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
