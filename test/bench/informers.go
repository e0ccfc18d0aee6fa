package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// errNotSynced: informers that do not sync say no more than that.
var errNotSynced = errors.New("the informers did not sync")

// runInformers is the peer: a shared dynamic informer for each target.
func runInformers(ctx context.Context, c *child, transform cache.TransformFunc) error {
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	stores := make([]cache.Store, len(targets))
	synced := make([]cache.InformerSynced, len(targets))
	for i, target := range targets {
		informer := factory.ForResource(target).Informer()
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
	if err := c.settled(ctx); err != nil {
		return err
	}
	for _, store := range stores {
		c.Objects += len(store.ListKeys())
	}
	return nil
}

// withoutManagedFields is what controllers that mind their memory do.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
