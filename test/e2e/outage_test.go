package e2e

import (
	"fmt"
	"testing"
)

// The operator crashes under open streams: who reconnects has the right graph
// again, with what happened meanwhile.
func TestOperatorCrashes(t *testing.T) {
	namespace := newNamespace(t)
	spec := in(namespace, rootedView)
	declare(t, namespace, "view", spec)
	changes := newWorkload(t, namespace)
	change(t, changes, 30)
	streams := map[string]*stream{}
	for way, r := range roads(t) {
		streams[way] = persist(t, r, namespace, "view")
	}
	for range 2 {
		wantAllEqualOracle(t, streams, namespace, spec)
		manager.Kill()
		change(t, changes, 30)
		restartOperator(t)
		change(t, changes, 10)
	}
	wantAllEqualOracle(t, streams, namespace, spec)
	waitReady(t, namespace, "view")
}

// The API server goes away and comes back under open streams: the one on the
// operator's own port just goes on, the one through the API server continues
// when it has reconnected.
func TestAPIServerRestarts(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	spec := in(namespace, wholeView)
	declare(t, namespace, "view", spec)
	own := subscribe(t, ownPort(t), namespace, "view")
	through := persist(t, throughAPIServer(t), namespace, "view")
	streams := map[string]*stream{"own port": own, "API server": through}
	wantAllEqualOracle(t, streams, namespace, spec)

	cluster.StopAPIServer()
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes := newWorkload(t, namespace)
	change(t, changes, 50)
	waitServed(t)
	wantAllEqualOracle(t, streams, namespace, spec)
	waitReady(t, namespace, "view")
	for way, s := range streams {
		for _, m := range s.received() {
			if m.Reset {
				t.Errorf("%s: the stream began anew, though the operator has lost nothing", way)
			}
		}
	}
	select {
	case <-own.done:
		t.Error("the stream on the operator's own port ended")
	default:
	}
}

func wantAllEqualOracle(t *testing.T, streams map[string]*stream, namespace, spec string) {
	t.Helper()
	eventually(t, func() string {
		want := expected(t, namespace, "view", spec)
		for way, s := range streams {
			if diff := s.Differs(want); diff != "" {
				return way + " (-oracle +subscriber):\n" + diff
			}
		}
		return ""
	})
}

// restartOperator starts the operator again and waits until it serves graphs on
// both roads.
func restartOperator(t *testing.T) {
	t.Helper()
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := manager.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitServed(t)
}

// waitServed waits until graphs can be listed on both roads.
func waitServed(t *testing.T) {
	t.Helper()
	for way, r := range roads(t) {
		eventually(t, func() string {
			code, body, err := r.tryGet(t.Context(), graphs+"/graphs")
			if err != nil || code != 200 {
				return fmt.Sprintf("%s: %d %s %v", way, code, body, err)
			}
			return ""
		})
	}
}
