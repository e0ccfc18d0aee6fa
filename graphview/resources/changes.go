package resources

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
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

const (
	// rejectedRetry is the interval between attempts to watch a resource that is
	// forbidden or not served.
	rejectedRetry = time.Minute

	// watchRetryLimit is the limit of the back-off after a watch has failed.
	watchRetryLimit = 30 * time.Second

	// shortWatch: if a watch ends in less than shortWatch, the next one waits for
	// the back-off, even if there were events.
	shortWatch = time.Second
)

// errNotWatchable is the error if Options.Watchable returns false. Nothing is listed then.
var errNotWatchable = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("you may not list and watch it"))

var errShortWatch = errors.New("watch ended at once")

// changeWatcher calls signal when objects of one resource change. It is not a reflector
// because it retains no objects: it needs a resource version, not a list, and accepts
// that the resource may be forbidden.
type changeWatcher struct {
	client   metadata.Interface
	resource schema.GroupVersionResource
	log      logr.Logger
	signal   func()
	// watchable is Options.Watchable. If it is nil, the watch is attempted.
	watchable func(ctx context.Context, group, resource string) bool
}

// run watches until ctx ends, and retries with back-off.
func (c changeWatcher) run(ctx context.Context) {
	backoff := newBackoff(watchRetryLimit)
	refused := false
	for {
		started := time.Now()
		err := c.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > watchRetryLimit {
			backoff = newBackoff(watchRetryLimit)
		}
		delay := backoff.Step()
		if isPermanent(err) {
			delay = wait.Jitter(rejectedRetry, 0.1)
		}
		if isPermanent(err) && !refused {
			c.log.Info("changes are noticed by polling alone", "reason", err.Error())
		} else {
			c.log.V(1).Info("watch broke", "reason", err.Error(), "retryIn", delay)
		}
		refused = isPermanent(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
	}
}

// follow gets the current resource version and watches from there, one watch after the
// other, until a request fails. It always returns an error.
func (c changeWatcher) follow(ctx context.Context) error {
	if c.watchable != nil && !c.watchable(ctx, c.resource.Group, c.resource.Resource) {
		return fmt.Errorf("list %s: %w", c.resource.GroupResource(), errNotWatchable)
	}
	position, err := c.position(ctx)
	if err != nil {
		return fmt.Errorf("list %s: %w", c.resource.GroupResource(), err)
	}
	// Changes before this position have not been signalled.
	c.signal()
	for {
		position, err = c.watch(ctx, position)
		if err != nil {
			return fmt.Errorf("watch %s: %w", c.resource.GroupResource(), err)
		}
	}
}

// position returns the current resource version. A list of one object is enough.
func (c changeWatcher) position(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := c.client.Resource(c.resource).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.ResourceVersion, nil
}

// watch signals events until the server ends the watch, and returns the last resource
// version that it saw.
func (c changeWatcher) watch(ctx context.Context, position string) (string, error) {
	// The random timeout keeps the watches from ending at the same time. It replaces
	// the server's own random timeout.
	timeout := int64(300 + rand.IntN(300))
	w, err := c.client.Resource(c.resource).Watch(ctx, metav1.ListOptions{
		ResourceVersion:     position,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      &timeout,
	})
	if err != nil {
		return "", err
	}
	defer func() {
		w.Stop()
		for range w.ResultChan() { // waits for the goroutine that decodes
		}
	}()
	started := time.Now()
	for event := range w.ResultChan() {
		if event.Type == watch.Error {
			return "", apierrors.FromObject(event.Object)
		}
		object, err := meta.Accessor(event.Object)
		if err != nil {
			return "", err
		}
		position = object.GetResourceVersion()
		if event.Type != watch.Bookmark {
			c.signal()
		}
	}
	if time.Since(started) < shortWatch {
		return "", errShortWatch
	}
	return position, nil
}
