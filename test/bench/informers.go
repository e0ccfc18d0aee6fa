package main

import (
	"context"
	"errors"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"graphview.dev/test/must"
)

// runInformers is the peer: a shared dynamic informer for each target.
func runInformers(ctx context.Context, c *child, transform cache.TransformFunc) {
	if c.LastEvent > 0 {
		// The replay has a list and then a watch, not a streaming list.
		must.Do(os.Setenv("KUBE_FEATURE_WatchListClient", "false"))
	}
	client := must.Get(dynamic.NewForConfig(c.config))
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	stores := make([]cache.Store, len(targets))
	synced := make([]cache.InformerSynced, len(targets))
	for i, target := range targets {
		informer := factory.ForResource(target.GroupVersionResource).Informer()
		if transform != nil {
			must.Do(informer.SetTransform(transform))
		}
		stores[i], synced[i] = informer.GetStore(), informer.HasSynced
	}
	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		must.Do(errors.New("the informers did not sync"))
	}
	c.synced()
	if c.LastEvent > 0 {
		c.handle(ctx, factory.ForResource(pods.GroupVersionResource).Informer())
	}
	c.settled(ctx)
	for _, store := range stores {
		c.Objects += len(store.ListKeys())
	}
}

// handle takes events up to the last one. The handler waits until the child has asked for them.
func (c *child) handle(ctx context.Context, informer cache.SharedIndexInformer) {
	asked, done := make(chan *events, 1), make(chan error, 1)
	var current *events
	must.Get(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		if current == nil {
			current = <-asked
		}
		if pod, ok := object.(*unstructured.Unstructured); ok && current.came([]byte(sequenceMark+pod.GetAnnotations()[sequence]+`"`)) {
			done <- must.Try(current.ended)
		}
	}}))
	asked <- c.ready()
	select {
	case err := <-done:
		must.Do(err)
	case <-ctx.Done():
		must.Do(context.Cause(ctx))
	}
}

// withoutManagedFields is the transform of controllers that save memory.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
