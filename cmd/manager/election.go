package main

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"graphview.dev/controllers"
	"graphview.dev/stream/replicas"
)

// podName returns the name of this replica's pod. Without POD_NAME it is the name of the host and the run,
// since two replicas may have the same host.
func podName(run string) (string, error) {
	if name := os.Getenv("POD_NAME"); name != "" {
		return name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name of this replica: %w", err)
	}
	return host + "." + run, nil
}

// newElection returns the election of the replica that writes status; nil without --leader-elect.
func newElection(o *options, config *rest.Config, run string) (*controllers.Election, error) {
	if !o.leaderElect {
		return nil, nil
	}
	name, err := podName(run)
	if err != nil {
		return nil, err
	}
	return controllers.NewElection(config, namespace(), name+"_"+run, ctrl.Log.WithName("election"))
}

// newCounter returns the counter of the replicas of a hub; nil without --leader-elect, which means a single
// replica.
func newCounter(o *options, config *rest.Config, run string) (*replicas.Counter, error) {
	if !o.leaderElect {
		return nil, nil
	}
	name, err := podName(run)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Leases: %w", err)
	}
	with := replicas.Options{Leases: leases.Leases(namespace()), Name: name, Logger: ctrl.Log.WithName("replicas")}
	if uid := os.Getenv("POD_UID"); uid != "" {
		with.Owner = &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(uid)}
	}
	return replicas.New(with), nil
}
