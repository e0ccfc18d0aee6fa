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

// The objects behind the discovery documents.
var (
	customResourceDefinitions = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	apiServices = schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	}
)

const (
	// rejectedRetry is how often a watch is asked for again that we may not
	// have or that does not exist.
	rejectedRetry = time.Minute

	// watchRetryLimit bounds the back-off of a watch that fails.
	watchRetryLimit = 30 * time.Second

	// shortWatch is a watch that ended so early that the next one must wait,
	// whatever it brought.
	shortWatch = time.Second
)

// errNotWatchable is a refusal without a request.
var errNotWatchable = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("you may not list and watch it"))

var errShortWatch = errors.New("watch ended at once")

// changes says that something moved among the objects of one resource. It keeps
// none of them, which is why it is no reflector: it needs a position and not the
// list, and it takes a refusal for an answer.
type changes struct {
	client   metadata.Interface
	resource schema.GroupVersionResource
	log      logr.Logger
	signal   func()
	// watchable is Options.Watchable, nil to try.
	watchable func(ctx context.Context, group, resource string) bool
}

// run watches until ctx ends.
func (c changes) run(ctx context.Context) {
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
		if rejected(err) {
			delay = wait.Jitter(rejectedRetry, 0.1)
		}
		if rejected(err) && !refused {
			c.log.Info("changes are noticed by polling alone", "reason", err.Error())
		} else {
			c.log.V(1).Info("watch broke", "reason", err.Error(), "retryIn", delay)
		}
		refused = rejected(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
	}
}

// follow takes a position and watches from there, one watch after the other,
// until something breaks. It always returns an error.
func (c changes) follow(ctx context.Context) error {
	if c.watchable != nil && !c.watchable(ctx, c.resource.Group, c.resource.Resource) {
		return fmt.Errorf("list %s: %w", c.resource.GroupResource(), errNotWatchable)
	}
	position, err := c.position(ctx)
	if err != nil {
		return fmt.Errorf("list %s: %w", c.resource.GroupResource(), err)
	}
	// Whatever moved before this position has not been seen.
	c.signal()
	for {
		position, err = c.watch(ctx, position)
		if err != nil {
			return fmt.Errorf("watch %s: %w", c.resource.GroupResource(), err)
		}
	}
}

// position returns the present resource version. One object is enough to learn
// it.
func (c changes) position(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := c.client.Resource(c.resource).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.ResourceVersion, nil
}

// watch signals events until the server ends the watch, and returns the position
// that it came to.
func (c changes) watch(ctx context.Context, position string) (string, error) {
	// The server would end it after a random time of its own; saying one keeps
	// all watches from ending together.
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
		for range w.ResultChan() { // Joins the goroutine that decodes.
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
