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
			for how, by := range transports() {
				readers = append(readers, reader{newPertinacious(r, by, namespace, view), way + ", " + how, view})
			}
			again := newPertinacious(r, openLines, namespace, view)
			again.snapshots = true
			readers = append(readers, reader{again, way + ", snapshots", view})
		}
	}
	for _, r := range readers {
		r.start(t)
	}
	connected := func(times int) {
		t.Helper()
		eventually(t, func() string {
			for _, r := range readers {
				connections, synced, wrong := r.Connections(), r.Synced(), r.Err()
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
			r.Drop()
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
				if diff := r.Differs(want); diff != "" {
					return fmt.Sprintf("%s of %s (-oracle +reader):\n%s", r.how, view, diff)
				}
			}
			return ""
		})
	}
	for _, r := range readers {
		if resets := r.Resets(); resets > 0 {
			t.Errorf("%s of %s began anew %d times", r.how, r.view, resets)
		}
	}
}

// A graph that was got once and is followed from its rev on misses nothing, however
// much changes meanwhile. Its stream begins with nothing that the client has. Later
// it may have elements again: clients that have fallen behind share messages.
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
			p := newPertinacious(r, openLines, namespace, "view")
			p.Apply(text)
			p.Heard = beginsAfter(text)
			before := p.Rev()
			p.start(t)
			clients = append(clients, p)
			eventually(t, func() string {
				if p.Rev() == before {
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
			if diff := p.Differs(want); diff != "" {
				return "(-oracle +client):\n" + diff
			}
		}
		return ""
	})
	for _, p := range clients {
		if p.Resets() > 0 || p.Connections() != 1 {
			t.Errorf("reset %d times, connected %d times", p.Resets(), p.Connections())
		}
	}
}

// beginsAfter hears the messages of a client that has a snapshot. It returns an error
// if the first one repeats an element of it.
func beginsAfter(snapshot []byte) func(text []byte) error {
	heard := false
	return func(text []byte) error {
		if heard {
			return nil
		}
		heard = true
		var has oracle.Client
		if err := has.Apply(snapshot); err != nil {
			return err
		}
		has.Resumed()
		if err := has.Apply(text); err != nil || has.Redundant() == 0 {
			return err
		}
		return fmt.Errorf("%d elements were sent again", has.Redundant())
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
