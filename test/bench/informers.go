package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// errNotSynced: informers that do not sync say no more than that.
var errNotSynced = errors.New("the informers did not sync")

// runInformers is the peer: a shared dynamic informer for each target.
func runInformers(ctx context.Context, c *child, transform cache.TransformFunc) error {
	if c.events > 0 {
		// The replay has a list and then a watch, not a streaming list.
		if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	stores := make([]cache.Store, len(targets))
	synced := make([]cache.InformerSynced, len(targets))
	for i, target := range targets {
		informer := factory.ForResource(target.GroupVersionResource).Informer()
		if transform != nil {
			if err := informer.SetTransform(transform); err != nil {
				return fmt.Errorf("transform: %w", err)
			}
		}
		stores[i], synced[i] = informer.GetStore(), informer.HasSynced
	}
	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return errNotSynced
	}
	if err := c.synced(); err != nil {
		return err
	}
	if c.events > 0 {
		if err := c.handle(ctx, factory.ForResource(pods.GroupVersionResource).Informer()); err != nil {
			return err
		}
	}
	if err := c.settled(ctx); err != nil {
		return err
	}
	if err := c.idled(ctx); err != nil {
		return err
	}
	for _, store := range stores {
		c.Objects += len(store.ListKeys())
	}
	return nil
}

// handle takes the events that come after it has synced.
func (c *child) handle(ctx context.Context, informer cache.SharedIndexInformer) error {
	t := make(chan *taken, 1)
	done := make(chan error, 1)
	var current *taken
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		if current == nil {
			current = <-t
		}
		accessor, err := meta.Accessor(object)
		if err != nil {
			return
		}
		if current.came([]byte(sequenceMark + accessor.GetAnnotations()[sequence] + `"`)) {
			done <- current.ended()
		}
	}}); err != nil {
		return fmt.Errorf("handler: %w", err)
	}
	ready, err := c.ready()
	if err != nil {
		return err
	}
	t <- ready
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idled notes the processor time that a while takes in which nothing happens.
func (c *child) idled(ctx context.Context) error {
	if c.idle == 0 {
		return nil
	}
	before, err := processorTime("self")
	if err != nil {
		return err
	}
	if err := wait(ctx, c.idle); err != nil {
		return err
	}
	after, err := processorTime("self")
	c.IdleProcessor = after - before
	return err
}

// withoutManagedFields is what controllers that mind their memory do.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
