package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
	"graphview.dev/test/peers"
)

const (
	leaseLabel        = "app.kubernetes.io/component=graphview-replica"
	addressAnnotation = "graphview.dev/address"
)

// group is the replicas of one row.
type group struct {
	*bench

	shares bool // each view is held by one of them
	all    []*replica
}

// replica is one of them.
type replica struct {
	*operator.Operator

	relays, profiles string
}

// errEnded: a replica has ended unexpectedly.
var errEnded = errors.New("a replica has ended")

// running fails if one of some replicas has ended.
func running(some []*replica) {
	for _, r := range some {
		if err := r.Exited(); err != nil {
			must.Do(fmt.Errorf("%w: %w", errEnded, err))
		}
	}
}

// start starts n replicas, which share views or hold all of them. If a port has been taken in
// the meantime, it tries others.
func (b *bench) start(ctx context.Context, n int, shares bool) (g *group) {
	for attempt := 1; ; attempt++ {
		g = &group{bench: b, shares: shares}
		err := must.Try(func() { g.start(ctx, n) })
		if err == nil {
			return g
		}
		if err = errors.Join(err, g.end(ctx)); !errors.Is(err, errEnded) || attempt == 3 {
			must.Do(err)
		}
		fmt.Fprintln(os.Stderr, "once more:", err)
	}
}

func (g *group) start(ctx context.Context, n int) {
	g.launch(ctx, n)
	g.knows(ctx, g.all)
}

// launch starts n replicas and does not wait for them.
func (g *group) launch(ctx context.Context, n int) {
	holders := 0
	if g.shares {
		holders = 1
	}
	g.forget(ctx, "")
	for i := range n {
		ports := must.Get(env.FreePorts(2))
		r := &replica{relays: fmt.Sprintf("127.0.0.1:%d", ports[0]), profiles: fmt.Sprintf("127.0.0.1:%d", ports[1])}
		r.Operator = must.Get(operator.Start(g.plane, operator.Options{Binary: g.binary, Name: fmt.Sprint("replica-", i), Args: []string{
			fmt.Sprintf("--view-holders=%d", holders), "--relay-bind-address=" + r.relays, "--pprof-bind-address=" + r.profiles,
		}}))
		g.all = append(g.all, r)
	}
}

// end ends the replicas and takes the views away, if there are any.
func (g *group) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	for _, r := range g.all {
		r.Stop(ctx)
	}
	return must.Try(func() {
		if len(g.views(ctx, 1)) > 0 {
			g.remove(ctx)
		}
	})
}

// views lists GraphViews, at most so many; 0: all.
func (g *group) views(ctx context.Context, most int64) []unstructured.Unstructured {
	client := must.Get(dynamic.NewForConfig(g.plane.Config()))
	return must.Get(client.Resource(graphViews).List(ctx, metav1.ListOptions{Limit: most})).Items
}

// knows waits until each of the replicas knows exactly the others.
func (g *group) knows(ctx context.Context, some []*replica) {
	series, want := "graphview_replicas", float64(len(some))
	if !g.shares {
		series, want = "graphview_connection_views", 0 // it answers
	}
	g.eventually(ctx, some, func() error {
		for i, r := range some {
			if n, err := r.Metric(ctx, series); err != nil || n != want {
				return fmt.Errorf("replica %d has %s %v: %w", i, series, n, err)
			}
		}
		return nil
	})
}

// declared declares the views, and waits until all are complete.
func (g *group) declared(ctx context.Context) {
	g.declare(ctx)
	g.eventually(ctx, g.all, func() error {
		ready := 0
		for _, view := range g.views(ctx, 0) {
			if text := must.Get(view.MarshalJSON()); bytes.Contains(text, []byte(`"status":"True","type":"Ready"`)) {
				ready++
			}
		}
		if ready < g.namespaces {
			return fmt.Errorf("%d of %d views are ready", ready, g.namespaces)
		}
		return nil
	})
}

// leases are those of replicas.
func (g *group) leases(ctx context.Context) (client coordination.LeaseInterface, all []coordinationv1.Lease) {
	client = must.Get(kubernetes.NewForConfig(g.plane.Config())).CoordinationV1().Leases(peers.Namespace)
	return client, must.Get(client.List(ctx, metav1.ListOptions{LabelSelector: leaseLabel})).Items
}

// forget deletes the Leases of replicas that have ended: those with an address, or all.
func (g *group) forget(ctx context.Context, address string) {
	client, all := g.leases(ctx)
	for i := range all {
		if address == "" || all[i].Annotations[addressAnnotation] == address {
			must.Do(ctrlclient.IgnoreNotFound(client.Delete(ctx, all[i].Name, metav1.DeleteOptions{})))
		}
	}
}

// holder is the replica that a revision is of, and the others.
func (g *group) holder(ctx context.Context, rev string) (of *replica, others []*replica) {
	run, _, _ := strings.Cut(rev, ".")
	_, all := g.leases(ctx)
	address := ""
	for i := range all {
		if *all[i].Spec.HolderIdentity == run {
			address = all[i].Annotations[addressAnnotation]
		}
	}
	for _, r := range g.all {
		if r.relays == address {
			of = r
		} else {
			others = append(others, r)
		}
	}
	if of == nil {
		must.Do(fmt.Errorf("no replica has the run %q", run))
	}
	return of, others
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
		must.Do(ctx.Err())
	}
}

// eventually asks until there is no error, for a while, and while some replicas run.
func (g *group) eventually(ctx context.Context, some []*replica, check func() error) {
	for began := time.Now(); ; {
		err := check()
		if err == nil {
			return
		}
		running(some)
		if time.Since(began) > patience {
			must.Do(err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}
