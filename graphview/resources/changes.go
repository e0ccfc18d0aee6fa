package resources

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// The resources whose objects determine the discovery documents.
var (
	customResourceDefinitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	apiServices = schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	}
)

// errNotWatchable is the error if Options.Watchable returns false. Nothing is listed then.
var errNotWatchable = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("you may not list and watch it"))

// changeWatcher signals a Discovery when objects of one resource change. It is a reflector that retains no
// objects: its list has only a resource version, and its store is a signal. The resource may be forbidden.
type changeWatcher struct {
	discovery *Discovery
	client    metadata.Interface
	resource  schema.GroupVersionResource
	log       logr.Logger
	// watchable is Options.Watchable. If it is nil, the watch is attempted.
	watchable func(ctx context.Context, group, resource string) bool
	refused   bool
}

// run watches until ctx ends.
func (c *changeWatcher) run(ctx context.Context) {
	silent := logr.Discard() // list logs a refusal once
	backoff := newBackoff(defaultPollInterval)
	// The reflector does not wait for its last list, which may even begin after it has ended.
	listing := make(chan struct{}, 1)
	requests := cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case listing <- struct{}{}:
			}
			defer func() { <-listing }()
			return c.list(ctx)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := c.client.Resource(c.resource).Watch(ctx, o)
			c.failed(err)
			return w, err
		},
	}
	cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(&requests, c), nil, c, cache.ReflectorOptions{
		Name: c.resource.String(), TypeDescription: c.resource.String(), Logger: &silent, Backoff: &backoff,
	}).RunWithContext(logr.NewContext(ctx, silent))
	listing <- struct{}{} // ctx has ended, so a list ends too, and a later one does nothing
}

// IsWatchListSemanticsUnSupported makes the reflector list: a watch-list would have all objects.
func (c *changeWatcher) IsWatchListSemanticsUnSupported() bool { return true }

// list returns the current resource version. A list of one object is enough.
func (c *changeWatcher) list(ctx context.Context) (list *metav1.PartialObjectMetadataList, err error) {
	defer func() { c.failed(err) }()
	if c.watchable != nil && !c.watchable(ctx, c.resource.Group, c.resource.Resource) {
		return nil, errNotWatchable
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if list, err = c.client.Resource(c.resource).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: list.ResourceVersion}}, nil
}

// failed logs the first of several refusals.
func (c *changeWatcher) failed(err error) {
	refused := isPermanent(err)
	if refused && !c.refused {
		c.log.Info("changes are noticed by polling alone", "reason", err.Error())
	}
	c.refused = refused
}

// Add implements cache.ReflectorStore, as the next four methods do. It is called for each new object.
func (c *changeWatcher) Add(any) error {
	c.discovery.signal()
	return nil
}

// Update is called for each change.
func (c *changeWatcher) Update(object any) error { return c.Add(object) }

// Delete is called for each deletion.
func (c *changeWatcher) Delete(object any) error { return c.Add(object) }

// Replace is called after a list: changes before its version have not been signalled.
func (c *changeWatcher) Replace([]any, string) error { return c.Add(nil) }

// Resync does nothing.
func (*changeWatcher) Resync() error { return nil }
