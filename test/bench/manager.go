package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/coder/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

// managers measures bin/manager, a new process in each round.
type managers struct {
	plane  *env.ControlPlane
	binary string
	settle time.Duration
	views  dynamic.ResourceInterface
}

// newManagers compiles the operator, as `make build` does, into a directory where no other
// build replaces it.
func newManagers(ctx context.Context, plane *env.ControlPlane, root string, settle time.Duration) *managers {
	client := must.Get(dynamic.NewForConfig(plane.Config()))
	path := filepath.Join(plane.Dir(), "manager")
	compile(ctx, root, "./cmd/manager", path)
	return &managers{plane: plane, binary: path, settle: settle, views: client.Resource(graphViews).Namespace(viewNamespace)}
}

// compile builds a program of the module in dir, as hack/image does.
func compile(ctx context.Context, dir, program, path string) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", path, program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		must.Do(fmt.Errorf("compile %s: %w: %s", program, err, bytes.TrimSpace(said.Bytes())))
	}
}

// running is one process of the operator, with a view.
type running struct {
	*operator.Operator
	*managers
	dialer *dialer
	view   lens
}

// start starts the operator and waits until it serves. Arguments win over those
// that an operator gets anyway.
func (m *managers) start(ctx context.Context, view lens, args ...string) *running {
	process := must.Get(operator.Start(m.plane, operator.Options{Binary: m.binary, Args: args}))
	r := &running{Operator: process, managers: m, view: view}
	r.dialer = newDialer(m.plane.Config(), process.URL(), process.Exited)
	if err := r.dialer.served(ctx); err != nil {
		must.Do(errors.Join(err, r.end(ctx)))
	}
	return r
}

// end ends the operator and takes its view away.
func (r *running) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	r.dialer.close()
	err := r.views.Delete(ctx, r.view.name, metav1.DeleteOptions{})
	r.Stop(ctx)
	return client.IgnoreNotFound(err)
}

// create creates the view and returns its version.
func (r *running) create(ctx context.Context) (version string) {
	return must.Get(r.views.Create(ctx, r.view.object(), metav1.CreateOptions{})).GetResourceVersion()
}

// followed creates the view and returns a stream that has all of it, and the
// revision of that.
func (r *running) followed(ctx context.Context) (conn *websocket.Conn, rev string) {
	r.create(ctx)
	conn = must.Get(r.dialer.dial(ctx, r.view, ""))
	return conn, must.Get(follow(ctx, conn, ignore))
}

// measure runs the operator once, from the creation of its view to a while
// after a subscriber has all of it.
func (m *managers) measure(ctx context.Context) (s sample) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("the operator took longer than ten minutes"))
	defer cancel()
	r := m.start(ctx, whole)
	defer must.End(func() error { return r.end(ctx) })
	s.readMemory(r.PID())
	s.Idle = s.Resident
	var conn *websocket.Conn
	s.Processor = spent(r.PID(), func() { conn = r.time(ctx, &s) })
	defer closeAll(conn)
	must.Do(wait(ctx, m.settle))
	s.readMemory(r.PID())
	return s
}

// time creates the view and waits until the subscriber has all of it and the
// view is Ready. The stream stays open.
func (r *running) time(ctx context.Context, s *sample) (conn *websocket.Conn) {
	started := time.Now()
	version := r.create(ctx)
	ready := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		err := r.ready(waiting, version)
		s.Ready = time.Since(started).Seconds()
		ready <- err
	}()
	conn = must.Get(r.dialer.dial(ctx, r.view, ""))
	must.Get(follow(ctx, conn, func(frame []byte) error {
		s.Bytes += int64(len(frame))
		return nil
	}))
	s.Seconds = time.Since(started).Seconds()
	must.Do(<-ready)
	return conn
}

// ready waits until the view's condition Ready is True.
func (r *running) ready(ctx context.Context, since string) error {
	events, err := r.views.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + r.view.name, ResourceVersion: since})
	if err != nil {
		return fmt.Errorf("watch the view: %w", err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("watch the view: %w", apierrors.FromObject(event.Object))
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, condition := range conditions {
			condition, _ := condition.(map[string]any)
			if condition["type"] == "Ready" && condition["status"] == "True" {
				return nil
			}
		}
	}
	return errors.New("watch the view: it ended before the view was Ready")
}
