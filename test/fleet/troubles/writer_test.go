package troubles

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

const (
	namespace = "shop"
	pulse     = "pulse" // the annotation that has the number of a change
	interval  = 100 * time.Millisecond
)

// writer changes objects of a member ten times a second, and knows when each change was stored.
type writer struct {
	client client.Client

	writing sync.Mutex // held during a change, and by a caller of pause
	mu      sync.Mutex
	stored  []time.Time // by number
}

// write starts a writer, until the test ends.
func write(t *testing.T, plane *env.ControlPlane) *writer {
	t.Helper()
	w := &writer{client: fixture.Client(t, plane.Config())}
	fixture.Start(t, func(ctx context.Context) error {
		random := rand.New(rand.NewPCG(1, 2))
		for ctx.Err() == nil {
			w.writing.Lock()
			w.change(ctx, random)
			w.writing.Unlock()
			pause(ctx, interval)
		}
		return nil
	})
	return w
}

// change writes the number of a change into an object, and sometimes deletes another one. A change that
// fails is none: in some episodes the API server does not answer.
func (w *writer) change(ctx context.Context, random *rand.Rand) {
	n := w.written()
	object := func(i int) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("object-", i)}}
	}
	if random.IntN(8) == 0 {
		if err := client.IgnoreNotFound(w.client.Delete(ctx, object(1+random.IntN(20)))); err != nil {
			return
		}
	}
	o := object(random.IntN(21))
	if n%2 == 0 {
		o = object(0) // it is never deleted, so that a number can be missed only for a moment
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, pulse, n)
	err := w.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) {
		o.Annotations = map[string]string{pulse: fmt.Sprint(n)}
		err = w.client.Create(ctx, o)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.stored = append(w.stored, time.Now())
	}
}

// written returns how many changes were stored.
func (w *writer) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.stored)
}

// before returns the last change of the object that is never deleted which was stored before a time.
func (w *writer) before(at time.Time) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n = len(w.stored) - 1; n >= 0 && (n%2 == 1 || w.stored[n].After(at)); n-- {
	}
	return n
}

// pause lets no change begin until resume is called.
func (w *writer) pause() (resume func()) {
	w.writing.Lock()
	return w.writing.Unlock
}
