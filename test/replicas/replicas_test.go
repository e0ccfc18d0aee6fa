package replicas

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/patience"
)

var silence = flag.Duration("silence", 20*time.Second, "how long the API server is silent: longer than a Lease lasts")

// TestReplicas: whatever happens to replicas, one of them writes status, no other process ends, and the
// readers at the other replicas notice nothing.
func TestReplicas(t *testing.T) {
	s := newScene(t)
	s.equal(replicas...)
	writer := s.written()
	for _, trouble := range []struct {
		name string
		play func(s *scene, writer *operator.Operator)
	}{
		{"a fourth joins and leaves", joins},
		{"the writer is killed", killed},
		{"the writer stands still", frozen},
		{"the API server is silent", silent},
		{"all are replaced in turn", replaced},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			s.t = t
			trouble.play(s, writer)
			s.change()
			s.equal(replicas...)
			writer = s.written()
			for i, r := range replicas {
				if err := r.Exited(); err != nil {
					t.Fatalf("replica %d: %v", i, err)
				}
			}
		})
	}
}

func joins(s *scene, writer *operator.Operator) {
	three := slices.Clone(replicas)
	check := s.undisturbed(three...)
	if err := start(); err != nil {
		s.t.Fatal(err)
	}
	fourth := replicas[3]
	s.follow(fourth)
	s.change()
	s.equal(replicas...)
	if now := s.written(); now != writer {
		s.t.Error("another replica writes status because one has joined")
	}
	s.stop(fourth)
	replicas = three
	s.change()
	s.equal(three...)
	check()
}

// killed: the reader of the replica that is killed continues at another one, from the beginning.
func killed(s *scene, writer *operator.Operator) {
	left := others(writer)
	check := s.undisturbed(left...)
	writer.Kill()
	s.move(s.readers[writer], left[0])
	s.change()
	s.equal(replicas...)
	s.written(left...)
	check()
	s.restart(writer)
}

// frozen: a replica that stood still does not write, though it was elected before.
func frozen(s *scene, writer *operator.Operator) {
	left := others(writer)
	check := s.undisturbed(left...)
	before := s.rests(writer)
	if err := syscall.Kill(writer.PID(), syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	s.change()
	s.equal(left...)
	next := s.written(left...)
	if err := syscall.Kill(writer.PID(), syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
	for range 2 {
		s.change()
		if s.written() != next {
			s.t.Error("another replica writes status, though the writer is well")
		}
	}
	s.equal(replicas...)
	if n := s.writes(writer) - before; n != 0 {
		s.t.Errorf("a replica that had lost the Lease has written %v times", n)
	}
	check()
}

// silent: without an API server nothing is written, and nothing ends.
func silent(s *scene, _ *operator.Operator) {
	check := s.undisturbed(replicas...)
	if err := cluster.PauseAPIServer(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	paused := time.Now()
	fixture.Eventually(s.t, *silence+time.Minute, 100*time.Millisecond, func() string {
		if n := len(s.elected(replicas)); n > 0 || time.Since(paused) < *silence {
			return fmt.Sprintf("%d replicas may write status after %v", n, time.Since(paused))
		}
		return ""
	})
	if err := cluster.ResumeAPIServer(); err != nil {
		s.t.Fatal(err)
	}
	s.change()
	s.equal(replicas...)
	check()
}

func replaced(s *scene, _ *operator.Operator) {
	for _, r := range replicas {
		check, before := s.undisturbed(others(r)...), s.readers[r].Ends()[1001]
		s.stop(r)
		s.change()
		s.equal(others(r)...)
		s.restart(r)
		s.equal(replicas...)
		check()
		if n := s.readers[r].Ends()[1001] - before; n != 1 {
			s.t.Errorf("%d streams of a replica that was stopped ended with 1001, want 1", n)
		}
	}
}

func others(than *operator.Operator) []*operator.Operator {
	return slices.DeleteFunc(slices.Clone(replicas), func(r *operator.Operator) bool { return r == than })
}

// stop stops a replica as a kubelet does.
func (s *scene) stop(r *operator.Operator) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience.For(time.Minute))
	defer cancel()
	if exit := r.Stop(ctx); exit != 0 {
		s.t.Errorf("a replica ended with %d", exit)
	}
}

// restart starts a replica that has ended. Its reader reads from it again.
func (s *scene) restart(r *operator.Operator) {
	s.t.Helper()
	if err := r.Restart(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, func() string {
		if !r.Ready(s.t.Context()) {
			return "the replica is not ready"
		}
		return ""
	})
	if reader := s.readers[r]; reader.at.Load() != r {
		s.move(reader, r)
	}
}

// written waits until the status of the view counts its objects, and returns the replica that writes
// it: one of all, or of some. No two of them may write at any time.
func (s *scene) written(of ...*operator.Operator) *operator.Operator {
	s.t.Helper()
	if len(of) == 0 {
		of = replicas
	}
	var elected []*operator.Operator
	eventually(s.t, func() string {
		// They are asked one after the other, so two are elected at once only if the first one still is.
		if elected = s.elected(of); len(elected) > 1 && len(s.elected(elected[:1])) > 0 {
			s.t.Fatalf("%d replicas write status", len(elected))
		}
		if counted := s.counted(); counted != int64(s.objects) || len(elected) != 1 {
			return fmt.Sprintf("the status counts %d of %d objects, and %d replicas are elected", counted, s.objects, len(elected))
		}
		return ""
	})
	return elected[0]
}

// counted returns the number of objects in the status of the view.
func (s *scene) counted() int64 {
	s.t.Helper()
	view := &unstructured.Unstructured{}
	view.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("GraphView"))
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "web"}, view); err != nil {
		s.t.Fatal(err)
	}
	vertices, _, _ := unstructured.NestedInt64(view.Object, "status", "vertices")
	return vertices
}

// elected returns the replicas that say that they write status.
func (s *scene) elected(of []*operator.Operator) (elected []*operator.Operator) {
	s.t.Helper()
	for _, r := range of {
		if writes, err := r.Metric(s.t.Context(), "graphview_status_writer"); err == nil && writes == 1 {
			elected = append(elected, r)
		}
	}
	return elected
}

// rests waits until a replica has written nothing for longer than it holds counts back, and returns how many patches it
// has sent.
func (s *scene) rests(r *operator.Operator) float64 {
	s.t.Helper()
	before, since := s.writes(r), time.Now()
	fixture.Eventually(s.t, 2*time.Minute, 500*time.Millisecond, func() string {
		if now := s.writes(r); now != before {
			before, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < 7*time.Second {
			return fmt.Sprintf("a replica has written nothing for only %v", quiet)
		}
		return ""
	})
	return before
}

// writes returns how many patches a replica has sent. A replica that does not write status sends none.
func (s *scene) writes(r *operator.Operator) float64 {
	s.t.Helper()
	n, err := r.Metric(s.t.Context(), "rest_client_requests_total", "method", "PATCH")
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
