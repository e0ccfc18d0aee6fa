package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// One workload read in every encoding, by every road, with connections that
// break again and again: all readers end with the graph that fresh lists give.
func TestEncodingsEqualOracle(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace) // something of everything, so that rights to nothing new are found out on the way
	views := map[string]string{"whole": in(namespace, wholeView), "rooted": in(namespace, rootedView)}
	type reader struct {
		*pertinacious
		how, view string
	}
	var readers []reader
	for view, spec := range views {
		declare(t, namespace, view, spec)
		for way, r := range roads(t) {
			for how, open := range transports() {
				readers = append(readers, reader{&pertinacious{road: r, open: open, namespace: namespace, name: view}, way + ", " + how, view})
			}
			readers = append(readers, reader{
				&pertinacious{road: r, open: openLines, namespace: namespace, name: view, snapshots: true}, way + ", snapshots", view,
			})
		}
	}
	for _, r := range readers {
		r.start(t)
	}
	connected := func(times int) {
		t.Helper()
		eventually(t, func() string {
			for _, r := range readers {
				r.mu.Lock()
				connections, synced, wrong := r.connections, r.client.Synced(), r.wrong
				r.mu.Unlock()
				if wrong != nil {
					t.Fatalf("%s of %s: %v", r.how, r.view, wrong)
				}
				if connections < times || !synced {
					return fmt.Sprintf("%s of %s: connected %d times, synced %t", r.how, r.view, connections, synced)
				}
			}
			return ""
		})
	}
	changes := newWorkload(t, namespace)
	const losses = 5
	for times := range losses {
		connected(times + 1)
		change(t, changes, 10)
		for _, r := range readers {
			r.lose()
		}
		change(t, changes, 10) // while they are away, or coming back
	}
	connected(losses + 1)
	for view, spec := range views {
		eventually(t, func() string {
			want := expected(t, namespace, view, spec)
			for _, r := range readers {
				if r.view != view {
					continue
				}
				if diff := r.differs(want); diff != "" {
					return fmt.Sprintf("%s of %s (-oracle +reader):\n%s", r.how, view, diff)
				}
			}
			return ""
		})
	}
	for _, r := range readers {
		r.mu.Lock()
		if r.resets > 0 {
			t.Errorf("%s of %s began anew %d times", r.how, r.view, r.resets)
		}
		r.mu.Unlock()
	}
}

// A graph that was got once and is followed from its rev on misses nothing and
// repeats nothing, however much changes meanwhile.
func TestSnapshotContinues(t *testing.T) {
	namespace := newNamespace(t)
	const view = `
queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'"}}]
namespaces: {names: [NAMESPACE]}
`
	declare(t, namespace, "view", in(namespace, view))
	// Objects without references, which differ with every write: whatever is sent
	// twice is sent without need.
	churn, enough := context.WithCancel(t.Context())
	changes := newWorkload(t, namespace)
	var churning sync.WaitGroup
	churning.Go(func() {
		for number := 0; churn.Err() == nil; number++ {
			if err := touch(churn, changes, namespace, number); err != nil && churn.Err() == nil {
				t.Errorf("change %d: %v", number, err)
				return
			}
		}
	})
	defer churning.Wait()
	defer enough()
	var clients []*pertinacious
	for way, r := range roads(t) {
		for range 10 {
			code, text, err := r.tryGet(t.Context(), graphPath(namespace, "view"))
			if err != nil || code != http.StatusOK {
				t.Fatalf("%s: %d %s %v", way, code, text, err)
			}
			p := &pertinacious{road: r, open: openLines, namespace: namespace, name: "view", client: oracle.Client{Strict: true}}
			p.apply(text)
			before := p.client.Rev()
			p.start(t)
			clients = append(clients, p)
			eventually(t, func() string {
				p.mu.Lock()
				defer p.mu.Unlock()
				if p.client.Rev() == before {
					return "nothing changes"
				}
				return ""
			})
		}
	}
	enough()
	churning.Wait()
	eventually(t, func() string {
		want := expected(t, namespace, "view", in(namespace, view))
		for _, p := range clients {
			if diff := p.differs(want); diff != "" {
				return "(-oracle +client):\n" + diff
			}
		}
		return ""
	})
	for _, p := range clients {
		p.mu.Lock()
		if p.resets > 0 || p.connections != 1 || p.client.Redundant() > 0 {
			t.Errorf("reset %d times, connected %d times, told %d things again", p.resets, p.connections, p.client.Redundant())
		}
		p.mu.Unlock()
	}
}

// touch makes, changes or deletes one of a few ConfigMaps. No two of them are
// ever the same.
func touch(ctx context.Context, w *workload.Workload, namespace string, number int) error {
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("config-", w.Random.IntN(20))},
		Data:       map[string]string{"number": strconv.Itoa(number)},
	}
	if w.Random.IntN(4) == 0 {
		return client.IgnoreNotFound(w.Client.Delete(ctx, o))
	}
	if err := w.Client.Create(ctx, o); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return w.Client.Update(ctx, o)
}
