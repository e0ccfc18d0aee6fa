package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/env"
	"graphview.dev/test/fleet"
	"graphview.dev/test/operator"
)

const (
	leaseLabel        = "app.kubernetes.io/component=graphview-replica"
	addressAnnotation = "graphview.dev/address"
	encodings         = "graphview_encodings_total"
)

// group is the replicas of one row.
type group struct {
	*bench

	holders int
	all     []*replica
}

// replica is one of them.
type replica struct {
	*operator.Operator

	relays, profiles string
}

// endedError: a replica has ended, though nobody asked it to.
type endedError struct{ err error }

func (e *endedError) Error() string { return "a replica has ended: " + e.err.Error() }

// start starts n replicas, each view held by some of them; 0: by all, without sharing.
// Where one cannot have a port that somebody else took first, it tries others.
func (b *bench) start(ctx context.Context, n, holders int) (g *group, err error) {
	for range 3 {
		g, err = b.startOnce(ctx, n, holders)
		if _, ended := errors.AsType[*endedError](err); !ended {
			break
		}
		fmt.Fprintln(os.Stderr, "once more:", err)
	}
	return g, err
}

func (b *bench) startOnce(ctx context.Context, n, holders int) (g *group, err error) {
	g = &group{bench: b, holders: holders}
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

// knows waits until some replicas know of each other, and of nobody else.
func (g *group) knows(ctx context.Context, some []*replica) error {
	return eventually(ctx, func() error {
		for i, r := range some {
			if err := r.Exited(); err != nil {
				return &endedError{err}
			}
			series, want := "graphview_replicas", float64(len(some))
			if g.holders == 0 {
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
		for _, r := range g.all {
			if err := r.Exited(); err != nil {
				return &endedError{err}
			}
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
	list, err := client.CoordinationV1().Leases(fleet.Namespace).List(ctx, metav1.ListOptions{LabelSelector: leaseLabel})
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
		if err := client.CoordinationV1().Leases(fleet.Namespace).Delete(ctx, all[i].Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
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

// memory is what a replica has: its live heap with its stacks, and what is resident.
type memory struct{ live, stacks, resident float64 }

// memory reads it, but for what is resident, after collections of garbage, of which the
// last leaves a profile of that name.
func (g *group) memory(ctx context.Context, r *replica, name string) (m memory, err error) {
	profile, err := r.heap(ctx, "")
	for range 4 { // each makes stacks smaller by half, and the first ones empty pools
		if err == nil {
			profile, err = r.heap(ctx, "")
		}
	}
	if err != nil {
		return m, err
	}
	if g.profiles != "" {
		if err := os.WriteFile(filepath.Join(g.profiles, name+".pprof"), profile, 0o600); err != nil {
			return m, err
		}
	}
	// As a text, a profile begins with how the heap was before the profile was made.
	text, err := r.heap(ctx, "&debug=1")
	if err != nil {
		return m, err
	}
	for prefix, into := range map[string]*float64{"\n# HeapAlloc = ": &m.live, "\n# Stack = ": &m.stacks} {
		_, value, _ := strings.Cut(string(text), prefix)
		if _, err := fmt.Sscan(value, into); err != nil {
			return m, fmt.Errorf("the heap's profile: %s: %w", prefix, err)
		}
	}
	m.live += m.stacks
	return m, nil
}

// heap is the profile of a replica's heap after a collection of garbage.
func (r *replica) heap(ctx context.Context, options string) ([]byte, error) {
	response, err := get(ctx, "http://"+r.profiles+"/debug/pprof/heap?gc=1"+options)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// moved waits until all objects have been read, which views that are ready do not wait for
// for ever, and, for a while, until views have moved to the watches that they share: before
// that, two watches retain the same.
func (g *group) moved(ctx context.Context) error {
	all := float64(g.objects/2*2) * float64(max(1, g.holders))
	for began := time.Now(); ; {
		sum := 0.0
		for _, r := range g.all {
			n, err := r.metric(ctx, "graphview_retained_objects")
			if err != nil {
				return err
			}
			sum += n
		}
		switch waited := time.Since(began); {
		case sum >= all && sum <= 1.01*all:
			return nil
		case sum < all && waited > patience:
			return fmt.Errorf("only %.0f of %.0f objects have been read", sum, all)
		case sum > all && waited > settleWithin:
			fmt.Fprintf(os.Stderr, "%.0f objects are still retained\n", sum)
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const (
	// settleWithin bounds how long it is waited until replicas have given back what they
	// needed to read everything: Go does so little by little.
	settleWithin = 2 * time.Minute
	// settled replicas have given back no more than a hundredth of what they have within
	// that time.
	settled = 15 * time.Second
)

// resident is what each replica has of the machine's memory, once that has settled.
func (g *group) resident(ctx context.Context) (each []float64, err error) {
	for began, before := time.Now(), 0.0; ; {
		each = each[:0]
		sum := 0.0
		for _, r := range g.all {
			bytes, err := r.metric(ctx, "process_resident_memory_bytes")
			if err != nil {
				return nil, err
			}
			each, sum = append(each, bytes), sum+bytes
		}
		if before > 0 && sum > 0.99*before || time.Since(began) > settleWithin {
			return each, nil
		}
		before = sum
		select {
		case <-time.After(settled):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
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
