package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"graphview.dev/test/must"
)

// writer changes pods through the API server, one annotation at a time.
type writer struct {
	client  metadata.Interface
	pods    []recorded
	changes *int
}

// writers is the number of concurrent changes.
const writers = 16

// newWriter returns a writer of the recorded pods.
func (b *bench) newWriter(ctx context.Context) *writer {
	config := b.plane.Config()
	config.QPS = -1 // no client-side limit
	return &writer{client: must.Get(metadata.NewForConfig(config)), pods: record(ctx, config), changes: b.changes}
}

// write makes n changes at a rate, and returns the number of the first. A change begins when it is due, unless
// all writers are busy.
func (w *writer) write(ctx context.Context, n, rate int, began func(n int)) (first int) {
	first = *w.changes + 1
	*w.changes += n
	group, changing := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for started, i := time.Now(), 0; i < n; i++ {
		due := started.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if wait(changing, time.Until(due)) != nil {
			break
		}
		group.Go(func() error {
			began(first + i)
			return w.change(changing, first+i)
		})
	}
	must.Do(group.Wait())
	must.Do(context.Cause(ctx))
	return first
}

func (w *writer) change(ctx context.Context, n int) error {
	key := w.pods[n%len(w.pods)].key
	namespace, name, _ := strings.Cut(key, "/")
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, sequence, n)
	_, err := w.client.Resource(pods.GroupVersionResource).Namespace(namespace).
		Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "bench"})
	if err != nil {
		return fmt.Errorf("change pod %s: %w", key, err)
	}
	return nil
}

// ignoreBegin is a callback that ignores the beginning of a change.
func ignoreBegin(int) {}
