package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/test/must"
)

// scaled is one operator over a multiplied load.
type scaled struct {
	sample

	late     []time.Duration
	problems float64 // seconds of kubectl graphview problems

	// collecting are the delays of events beside a garbage collection, apart those of the others.
	collecting, apart []time.Duration
	// collections is the part of the time in which the operator collected garbage, and allocated are the bytes for each event.
	collections, allocated float64
}

// million measures row 16: one operator with a million objects, or as many as the flag says, beside a tenth of that, over
// the same objects multiplied.
func million(ctx context.Context, b *bench) []line {
	few, many := b.scaled(ctx, b.multiplied/10), b.scaled(ctx, b.multiplied)
	of := func(what, goal string, value func(*scaled) float64, format func(float64) string, reached func(*line) bool) line {
		l := line{row: 16, what: what, goal: goal, ours: single(value(&many)), format: format, reached: reached}
		l.peer, l.peerName = single(value(&few)), fmt.Sprintf("%d objects", few.Objects)
		return l
	}
	each := func(total func(*scaled) float64) func(*scaled) float64 {
		return func(s *scaled) float64 { return total(s) / float64(s.Objects) }
	}
	return []line{
		of(fmt.Sprintf("resident with %d objects, %d arcs, bin/manager, once settled", many.Objects, many.Arcs), "≤ 1400 MB",
			func(s *scaled) float64 { return float64(s.Resident) }, megabytes, within(1.4e9)),
		of("… for each object", "", each(func(s *scaled) float64 { return float64(s.Resident) }), kilobytes, nil),
		of("view created to Ready, for each object", "as with a tenth", each(func(s *scaled) float64 { return s.Seconds }), microseconds, partOfPeer(1.1)),
		of("… processor time", "", each(func(s *scaled) float64 { return s.Processor }), microseconds, nil),
		of(fmt.Sprintf("event to subscriber of a view of one application, %d events/s: p50", neighbourRate), "",
			func(s *scaled) float64 { return percentile(s.late, 50) }, milliseconds, nil),
		of("… p99", "as with a tenth: ≤ 2 ×", func(s *scaled) float64 { return percentile(s.late, 99) }, milliseconds, partOfPeer(2)),
		of("… of events beside a garbage collection: p99", "", func(s *scaled) float64 { return percentile(s.collecting, 99) }, milliseconds, nil),
		of("… of the others: p99", "", func(s *scaled) float64 { return percentile(s.apart, 99) }, milliseconds, nil),
		of("… the part of the time in which garbage was collected", "", func(s *scaled) float64 { return 100 * s.collections }, percentOf, nil),
		of("… memory allocated for each event", "", func(s *scaled) float64 { return s.allocated }, kilobytes, nil),
		of("kubectl graphview problems of the objects that are healthy", "≤ 1 s", func(s *scaled) float64 { return s.problems }, seconds, within(1)),
	}
}

// scaled runs the operator over as many copies of the load as have so many objects.
func (b *bench) scaled(ctx context.Context, objects int) (s scaled) {
	copies := (objects + b.shape.objects()/2) / b.shape.objects()
	m := b.newMultiplied(ctx, max(copies, 1))
	defer m.close()
	roomy := *b.managers
	roomy.env = []string{"GOMEMLIMIT=6GiB", traceCollections} // one namespace may hold half of the limit
	r := roomy.start(ctx, whole, "--kubeconfig="+m.kubeconfig, "--max-vertices-per-view=2000000", "--sync-timeout=20m")
	defer must.End(func() error { return r.end(ctx) })
	began := time.Now()
	s.Processor = spent(r.PID(), func() {
		r.create(ctx)
		r.awaitViews(ctx, 1)
	})
	s.Seconds = time.Since(began).Seconds()
	must.Do(wait(ctx, b.settle))
	s.readMemory(r.PID())
	s.Objects, s.Arcs = int(r.metric(ctx, "graphview_vertices")), int(r.metric(ctx, "graphview_arcs"))
	fmt.Fprintf(os.Stderr, "%d objects: %.2f s, of processor time %.2f s, %d MB resident\n", s.Objects, s.Seconds, s.Processor, s.Resident/1e6)
	s.problems = b.problems(ctx, r)
	b.lateAmong(ctx, r, m.replay, &s)
	return s
}

// awaitViews waits until so many views are ready. It asks rarely, since an answer with metrics costs the operator milliseconds.
func (r *running) awaitViews(ctx context.Context, n float64) {
	for r.metric(ctx, "graphview_views", "state", "ready") < n {
		if r.metric(ctx, "graphview_views", "state", "limited") > 0 {
			must.Do(errors.New("the view is too large for the limits of the operator"))
		}
		must.Do(r.Exited())
		must.Do(wait(ctx, time.Second))
	}
}

// healthy leaves out the objects that no controller has made healthy: an eighth of the load.
var healthy = lens{name: "healthy", only: "!(resource in ['deployments', 'replicasets', 'nodes'])"}

// problems returns how long kubectl graphview problems takes for a healthy graph, in seconds.
func (b *bench) problems(ctx context.Context, r *running) float64 {
	beside := *r
	beside.view = healthy
	beside.create(ctx)
	defer must.End(func() error {
		return r.views.Delete(context.WithoutCancel(ctx), healthy.name, metav1.DeleteOptions{})
	})
	beside.awaitViews(ctx, 2)
	must.Do(r.Register(ctx))
	program := filepath.Join(b.plane.Dir(), "kubectl-graphview")
	compile(ctx, b.root, "./cmd/kubectl-graphview", program)
	command := exec.CommandContext(ctx, program, "problems", healthy.name, "--namespace="+viewNamespace,
		"--kubeconfig="+filepath.Join(b.plane.Dir(), "kubeconfig"), "--output=name")
	began := time.Now()
	output, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.ExitCode() > 1 { // 1: there are problems
		must.Do(fmt.Errorf("kubectl graphview problems: %w: %.300s", err, output))
	}
	return time.Since(began).Seconds()
}

// amongFor is the time of the events of row 16. A collection beside a million objects comes about once a minute and takes up to a quarter of
// a second: the p99 of a few seconds depends on whether a collection was among them.
const amongFor = 2 * time.Minute

// lateAmong measures the delays of events at a subscriber of the small view, which is made for that.
func (b *bench) lateAmong(ctx context.Context, r *running, events *replay, s *scaled) {
	narrow := *r
	narrow.view = small
	defer must.End(func() error {
		return r.views.Delete(context.WithoutCancel(ctx), small.name, metav1.DeleteOptions{})
	})
	among := b.neighbourOf(ctx, &narrow, events)
	defer among.audience.leave()
	among.events = int(amongFor.Seconds() * neighbourRate)
	const allocated = "go_memstats_alloc_bytes_total"
	before, began := r.metric(ctx, allocated), time.Now()
	during := among.beside(ctx, nil)
	ended := time.Now()
	s.allocated = (r.metric(ctx, allocated) - before) / float64(among.events)
	collected := r.collections()
	s.late, s.collections = during.late, shareOf(collected, began, ended)
	s.collecting = among.audience.lateWhere(during.began, func(began, arrived time.Time) bool { return overlaps(collected, began, arrived) })
	s.apart = among.audience.lateWhere(during.began, func(began, arrived time.Time) bool { return !overlaps(collected, began, arrived) })
}
