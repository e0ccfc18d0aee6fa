package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/must"
)

// writer changes pods through the API server, one annotation at a time.
type writer struct {
	client  kubernetes.Interface
	close   func()
	keys    []string // namespace/name
	changes *int
}

// writers work at once.
const writers = 16

// newWriter changes pods of one namespace, or of all if it is "".
func (b *bench) newWriter(ctx context.Context, namespace string, most int) *writer {
	config := b.plane.Config()
	known := record(ctx, config)
	w := &writer{changes: &b.changes}
	for i := range known {
		if namespace == "" || strings.HasPrefix(known[i].key, namespace+"/") {
			w.keys = append(w.keys, known[i].key)
		}
	}
	w.keys = slices.Clip(w.keys[:min(len(w.keys), most)])
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	http := must.Get(rest.HTTPClientFor(config))
	w.close = http.CloseIdleConnections
	w.client = must.Get(kubernetes.NewForConfigAndClient(config, http))
	return w
}

// key is the pod that a change concerns.
func (w *writer) key(n int) string { return w.keys[n%len(w.keys)] }

// write makes n changes, so many a second, and returns the number of the first.
func (w *writer) write(ctx context.Context, n, rate int, began func(n int)) (first int, err error) {
	first = *w.changes + 1
	*w.changes += n
	return first, load.Paced(ctx, n, rate, writers, func(ctx context.Context, i int) error {
		began(first + i)
		return w.change(ctx, first+i)
	})
}

func (w *writer) change(ctx context.Context, n int) error {
	namespace, name, _ := strings.Cut(w.key(n), "/")
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, sequence, n)
	_, err := w.client.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "bench"})
	if err != nil {
		return fmt.Errorf("change pod %s: %w", w.key(n), err)
	}
	return nil
}

// ignoreBegin is a callback that ignores the beginning of a change.
func ignoreBegin(int) {}
