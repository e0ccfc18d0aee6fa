package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

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

// newManagers takes a copy of the built operator, so that whoever builds it
// meanwhile does not change what is measured.
func newManagers(plane *env.ControlPlane, views dynamic.ResourceInterface, settle time.Duration) (*managers, error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return nil, err
	}
	built, err := os.Open(filepath.Join(root, "bin", "manager"))
	if err != nil {
		return nil, fmt.Errorf("the operator: %w (run `make build`)", err)
	}
	defer built.Close()
	path := filepath.Join(plane.Dir(), "manager")
	own, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700) //nolint:gosec // it is to be run
	if err != nil {
		return nil, fmt.Errorf("copy the operator: %w", err)
	}
	_, err = io.Copy(own, built)
	if err := errors.Join(err, own.Close()); err != nil {
		return nil, fmt.Errorf("copy the operator: %w", err)
	}
	return &managers{plane: plane, binary: path, settle: settle, views: views}, nil
}

// measure runs the operator once. It returns what the subscriber got too.
func (m *managers) measure(ctx context.Context) (s sample, frames [][]byte, err error) {
	process, err := operator.Start(m.plane, operator.Options{Binary: m.binary})
	if err != nil {
		return s, nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, m.removeView(ctx))
		process.Stop(ctx)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("the operator took longer than ten minutes"))
	defer cancel()
	client, err := newSubscriber(m.plane, process)
	if err != nil {
		return s, nil, err
	}
	defer client.close()
	if err := client.served(ctx); err != nil {
		return s, nil, err
	}
	pid, err := childOf(m.binary)
	if err != nil {
		return s, nil, err
	}
	if err := s.readMemory(pid); err != nil {
		return s, nil, err
	}
	s.Idle = s.Resident
	before, err := processorTime(pid)
	if err != nil {
		return s, nil, err
	}
	if frames, err = m.time(ctx, client, &s); err != nil {
		return s, nil, err
	}
	after, err := processorTime(pid)
	if err != nil {
		return s, nil, err
	}
	s.Processor = after - before
	if err := wait(ctx, m.settle); err != nil {
		return s, nil, err
	}
	err = s.readMemory(pid)
	return s, frames, err
}

// time creates the view and waits until the subscriber has all of it and the
// view is Ready. The subscription stays open.
func (m *managers) time(ctx context.Context, client *subscriber, s *sample) (frames [][]byte, err error) {
	object, err := view()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	object, err = m.views.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create the view: %w", err)
	}
	ready := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	go func() {
		err := m.ready(waiting, object.GetResourceVersion())
		s.Ready = time.Since(started).Seconds()
		ready <- err
	}()
	frames, err = client.follow(ctx)
	s.Seconds = time.Since(started).Seconds()
	if err != nil {
		stop()
	}
	err = errors.Join(err, <-ready)
	stop()
	for _, frame := range frames {
		s.Bytes += int64(len(frame))
	}
	return frames, err
}

// ready waits until the view's condition Ready is True.
func (m *managers) ready(ctx context.Context, since string) error {
	events, err := m.views.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + viewName, ResourceVersion: since})
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

// removeView deletes the view and waits for nothing: the operator ends anyway.
func (m *managers) removeView(ctx context.Context) error {
	if err := m.views.Delete(ctx, viewName, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the view: %w", err)
	}
	return nil
}
