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

	"graphview.dev/test/env"
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
func newManagers(ctx context.Context, plane *env.ControlPlane, root string, settle time.Duration) (*managers, error) {
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	path := filepath.Join(plane.Dir(), "manager")
	if err := compile(ctx, root, "./cmd/manager", path); err != nil {
		return nil, err
	}
	return &managers{plane: plane, binary: path, settle: settle, views: client.Resource(graphViews).Namespace(viewNamespace)}, nil
}

// compile builds a program of the module in dir, as hack/image does.
func compile(ctx context.Context, dir, program, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", path, program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compile %s: %w: %s", program, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
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
func (m *managers) start(ctx context.Context, view lens, args ...string) (*running, error) {
	process, err := operator.Start(m.plane, operator.Options{Binary: m.binary, Args: args})
	if err != nil {
		return nil, err
	}
	r := &running{Operator: process, managers: m, view: view}
	if r.dialer, err = newDialer(m.plane.Config(), process.URL(), process.Exited); err != nil {
		return nil, errors.Join(err, r.end(ctx))
	}
	if err := r.dialer.served(ctx); err != nil {
		return nil, errors.Join(err, r.end(ctx))
	}
	return r, nil
}

// end ends the operator and takes its view away.
func (r *running) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if r.dialer != nil {
		r.dialer.close()
	}
	err := r.views.Delete(ctx, r.view.name, metav1.DeleteOptions{})
	r.Stop(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the view: %w", err)
	}
	return nil
}

// create creates the view and returns its version.
func (r *running) create(ctx context.Context) (version string, err error) {
	object, err := r.view.object()
	if err != nil {
		return "", err
	}
	object, err = r.views.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create the view: %w", err)
	}
	return object.GetResourceVersion(), nil
}

// followed creates the view and returns a stream that has all of it, and the
// revision of that.
func (r *running) followed(ctx context.Context) (conn *websocket.Conn, rev string, err error) {
	if _, err := r.create(ctx); err != nil {
		return nil, "", err
	}
	if conn, err = r.dialer.dial(ctx, r.view, ""); err != nil {
		return nil, "", err
	}
	if rev, err = follow(ctx, conn, func([]byte) error { return nil }); err != nil {
		closeAll([]*websocket.Conn{conn})
	}
	return conn, rev, err
}

// measure runs the operator once, from the creation of its view to a while
// after a subscriber has all of it.
func (m *managers) measure(ctx context.Context) (s sample, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("the operator took longer than ten minutes"))
	defer cancel()
	r, err := m.start(ctx, whole)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if err := s.readMemory(pid(r)); err != nil {
		return s, err
	}
	s.Idle = s.Resident
	before, err := processorTime(pid(r))
	if err != nil {
		return s, err
	}
	conn, err := r.time(ctx, &s)
	if err != nil {
		return s, err
	}
	defer closeAll([]*websocket.Conn{conn})
	after, err := processorTime(pid(r))
	if err != nil {
		return s, err
	}
	s.Processor = after - before
	if err := wait(ctx, m.settle); err != nil {
		return s, err
	}
	return s, s.readMemory(pid(r))
}

// time creates the view and waits until the subscriber has all of it and the
// view is Ready. The stream stays open.
func (r *running) time(ctx context.Context, s *sample) (conn *websocket.Conn, err error) {
	started := time.Now()
	version, err := r.create(ctx)
	if err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		err := r.ready(waiting, version)
		s.Ready = time.Since(started).Seconds()
		ready <- err
	}()
	if conn, err = r.dialer.dial(ctx, r.view, ""); err == nil {
		_, err = follow(ctx, conn, func(frame []byte) error {
			s.Bytes += int64(len(frame))
			return nil
		})
	}
	s.Seconds = time.Since(started).Seconds()
	if err != nil {
		stop()
	}
	if err = errors.Join(err, <-ready); err != nil {
		closeAll([]*websocket.Conn{conn})
		return nil, err
	}
	return conn, nil
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
