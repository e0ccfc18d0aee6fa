package main

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/must"
)

// runControllerRuntime is a peer: the cache of controller-runtime, as an operator
// has it that looks at kinds for which it has no Go types.
func runControllerRuntime(ctx context.Context, c *child) {
	log.SetLogger(logr.Discard())
	held := must.Get(cache.New(c.config, cache.Options{}))
	defer must.End(must.Background(ctx, held.Start))
	for _, target := range targets {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(target.GroupVersion().WithKind(target.kind))
		must.Get(held.GetInformer(ctx, object, cache.BlockUntilSynced(false)))
	}
	if !held.WaitForCacheSync(ctx) {
		must.Do(errNotSynced)
	}
	c.synced()
	c.settled(ctx)
	for _, target := range targets {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(target.GroupVersion().WithKind(target.kind + "List"))
		must.Do(held.List(ctx, list))
		c.Objects += len(list.Items)
	}
}
