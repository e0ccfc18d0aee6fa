package main

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"graphview.dev/graphview"
	"graphview.dev/stream/replicas"
)

// noRelay is the relay version of replicas that hold every view.
const noRelay = "none"

// newSelf returns this replica. Without POD_NAME the name is the host's, which two
// replicas may have in common, with the run.
func newSelf(engine *graphview.Engine, address, wire string) (replicas.Member, error) {
	m := replicas.Member{Name: os.Getenv("POD_NAME"), Run: engine.RunID(), Address: address, Wire: wire}
	if m.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return m, fmt.Errorf("name of this replica: %w", err)
		}
		m.Name = host + "." + m.Run
	}
	return m, nil
}

// membersOf returns the replicas among which the writer of a status is chosen; nil if this
// one is alone.
func membersOf(shared *sharing, o *options, config *rest.Config, engine *graphview.Engine) (*replicas.Members, error) {
	switch {
	case shared != nil:
		return shared.members, nil
	case !o.leaderElect:
		return nil, nil
	}
	self, err := newSelf(engine, "", noRelay)
	if err != nil {
		return nil, err
	}
	return newMembers(config, self, nil)
}

// newMembers returns the replicas of this operator, including self. stale is that of
// replicas.Options.
func newMembers(config *rest.Config, self replicas.Member, stale func(bool)) (*replicas.Members, error) {
	leases, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Leases: %w", err)
	}
	o := replicas.Options{Leases: leases.Leases(namespace()), Self: self, Stale: stale, Logger: ctrl.Log.WithName("replicas")}
	if uid := os.Getenv("POD_UID"); uid != "" {
		o.Owner = &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: self.Name, UID: types.UID(uid)}
	}
	return replicas.New(o), nil
}
