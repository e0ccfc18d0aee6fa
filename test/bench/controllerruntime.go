package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// runControllerRuntime is a peer: the cache of controller-runtime, as an operator
// has it that looks at kinds for which it has no Go types.
func runControllerRuntime(ctx context.Context, c *child) (err error) {
	log.SetLogger(logr.Discard())
	held, err := cache.New(c.config, cache.Options{})
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- held.Start(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done)
	}()
	for _, target := range targets {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(target.GroupVersion().WithKind(target.kind))
		if _, err := held.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("informer of %s: %w", target.Resource, err)
		}
	}
	if !held.WaitForCacheSync(ctx) {
		return errNotSynced
	}
	if err := c.synced(); err != nil {
		return err
	}
	if err := c.settled(ctx); err != nil {
		return err
	}
	for _, target := range targets {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(target.GroupVersion().WithKind(target.kind + "List"))
		if err := held.List(ctx, list); err != nil {
			return fmt.Errorf("list %s: %w", target.Resource, err)
		}
		c.Objects += len(list.Items)
	}
	return nil
}
