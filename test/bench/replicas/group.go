package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
	"graphview.dev/test/peers"
)

const (
	leaseLabel        = "app.kubernetes.io/component=graphview-replica"
	addressAnnotation = "graphview.dev/address"
	encodings         = "graphview_encodings_total"
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

// endedError: a replica has ended unexpectedly.
type endedError struct{ err error }

func (e *endedError) Error() string { return "a replica has ended: " + e.err.Error() }

// running is an *endedError if one of some replicas has ended.
func running(some []*replica) error {
	for _, r := range some {
		if err := r.Exited(); err != nil {
			return &endedError{err}
		}
	}
	return nil
}

// start starts n replicas, which share views or hold all of them. If a port has been taken in
// the meantime, it tries others.
func (b *bench) start(ctx context.Context, n int, shares bool) (g *group, err error) {
	for range 3 {
		g, err = b.startOnce(ctx, n, shares)
		if _, ended := errors.AsType[*endedError](err); !ended {
			break
		}
		fmt.Fprintln(os.Stderr, "once more:", err)
	}
	return g, err
}

func (b *bench) startOnce(ctx context.Context, n int, shares bool) (g *group, err error) {
	g = &group{bench: b, shares: shares}
	holders := 0
	if shares {
		holders = 1
	}
	if err := g.forget(ctx, ""); err != nil {
		return nil, err
	}
	for i := range n {
		ports, err := env.FreePorts(2)
		if err != nil {
			return nil, err
		}
		r := &replica{relays: fmt.Sprintf("127.0.0.1:%d", ports[0]), profiles: fmt.Sprintf("127.0.0.1:%d", ports[1])}
		r.Operator, err = operator.Start(b.plane, operator.Options{Binary: b.binary, Name: fmt.Sprint("replica-", i), Args: []string{
			fmt.Sprintf("--view-holders=%d", holders), "--relay-bind-address=" + r.relays, "--pprof-bind-address=" + r.profiles,
		}})
		if err != nil {
			return nil, errors.Join(err, g.end(ctx))
		}
		g.all = append(g.all, r)
	}
	if err := g.knows(ctx, g.all); err != nil {
		return nil, errors.Join(err, g.end(ctx))
	}
	return g, nil
}

// end ends the replicas and takes the views away, if there are any.
func (g *group) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	for _, r := range g.all {
		r.Stop(ctx)
	}
	views, err := dynamic.NewForConfig(g.plane.Config())
	if err != nil {
		return err
	}
	if list, err := views.Resource(graphViews).List(ctx, metav1.ListOptions{Limit: 1}); err != nil || len(list.Items) == 0 {
		return err
	}
	return g.remove(ctx)
}

// knows waits until each of the replicas knows exactly the others.
func (g *group) knows(ctx context.Context, some []*replica) error {
	return eventually(ctx, func() error {
		if err := running(some); err != nil {
			return err
		}
		for i, r := range some {
			series, want := "graphview_replicas", float64(len(some))
			if !g.shares {
				series, want = "graphview_connection_views", 0 // it answers
			}
			if n, err := r.metric(ctx, series); err != nil || n != want {
				return fmt.Errorf("replica %d has %s %v: %w", i, series, n, err)
			}
		}
		return nil
	})
}

// declared declares the views, and waits until all are complete.
func (g *group) declared(ctx context.Context) error {
	if err := g.declare(ctx); err != nil {
		return err
	}
	views, err := dynamic.NewForConfig(g.plane.Config())
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		if err := running(g.all); err != nil {
			return err
		}
		list, err := views.Resource(graphViews).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			text, err := list.Items[i].MarshalJSON()
			if err != nil {
				return err
			}
			if strings.Contains(string(text), `"status":"True","type":"Ready"`) {
				ready++
			}
		}
		if ready < g.namespaces {
			return fmt.Errorf("%d of %d views are ready", ready, g.namespaces)
		}
		return nil
	})
}

func (g *group) leases(ctx context.Context) ([]coordinationv1.Lease, error) {
	client, err := kubernetes.NewForConfig(g.plane.Config())
	if err != nil {
		return nil, err
	}
	list, err := client.CoordinationV1().Leases(peers.Namespace).List(ctx, metav1.ListOptions{LabelSelector: leaseLabel})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// forget deletes the Leases of replicas that have ended: those with an address, or all.
func (g *group) forget(ctx context.Context, address string) error {
	client, err := kubernetes.NewForConfig(g.plane.Config())
	if err != nil {
		return err
	}
	all, err := g.leases(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if address != "" && all[i].Annotations[addressAnnotation] != address {
			continue
		}
		if err := client.CoordinationV1().Leases(peers.Namespace).Delete(ctx, all[i].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// holder is the replica that a revision is of, and the others.
func (g *group) holder(ctx context.Context, rev string) (of *replica, others []*replica, err error) {
	run, _, _ := strings.Cut(rev, ".")
	all, err := g.leases(ctx)
	if err != nil {
		return nil, nil, err
	}
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
		return nil, nil, fmt.Errorf("no replica has the run %q", run)
	}
	return of, others, nil
}

// metric is the value of a series at a replica.
func (r *replica) metric(ctx context.Context, series string) (float64, error) {
	response, err := get(ctx, r.MetricsURL())
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), series+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no %s", series)
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// pause waits for a while, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// eventually asks until there is no error, for a while. It does not wait for a replica
// that has ended.
func eventually(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if _, ended := errors.AsType[*endedError](err); err == nil || ended {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}
