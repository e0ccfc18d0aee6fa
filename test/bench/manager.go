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
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	env    []string // of the operator, beside that of this process
	views  dynamic.ResourceInterface
}

// newManagers compiles the operator of a module, as `make build` does, under a name into a directory where no other
// build replaces it.
func newManagers(ctx context.Context, plane *env.ControlPlane, root, name string, settle time.Duration) *managers {
	client := must.Get(dynamic.NewForConfig(plane.Config()))
	path := filepath.Join(plane.Dir(), name)
	compile(ctx, root, "./cmd/manager", path)
	return &managers{plane: plane, binary: path, settle: settle, views: client.Resource(graphViews).Namespace(viewNamespace)}
}

// compile builds a program of the module in dir, as hack/image does.
func compile(ctx context.Context, dir, program, path string) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", path, program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		must.Do(fmt.Errorf("compile %s: %w: %s", program, err, bytes.TrimSpace(output.Bytes())))
	}
}

// running is one process of the operator, with a view.
type running struct {
	*operator.Operator
	*managers
	dialer *dialer
	view   lens
}

// start starts the operator and waits until it is ready. Arguments override those
// of package operator.
func (m *managers) start(ctx context.Context, view lens, args ...string) *running {
	process := must.Get(operator.Start(m.plane, operator.Options{Binary: m.binary, Args: args, Env: m.env}))
	r := &running{Operator: process, managers: m, view: view}
	r.dialer = newDialer(m.plane.Config(), process.URL(), process.Exited)
	if err := must.Try(func() { until(ctx, process, func() bool { return process.Ready(ctx) }) }); err != nil {
		must.Do(errors.Join(err, r.end(ctx)))
	}
	return r
}

// streamsOfUser is the number of graphs that each user may have open while any place is free. One user alone may have
// a ninth of open_graphs.
const streamsOfUser = 16

// users returns dialers of as many users as may have n streams. All of them may read everything, and have read the view once:
// so the rows have no questions about rights, with which a stream of an unknown user begins.
func (r *running) users(ctx context.Context, n int) []*dialer {
	users := make([]*dialer, (n+streamsOfUser-1)/streamsOfUser)
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(dialedAtOnce)
	for i := range users {
		users[i] = newDialer(r.plane.ClientConfig(fmt.Sprintf("subscriber-%d", i), "system:masters"), r.URL(), r.Exited)
		group.Go(func() error {
			conn, err := users[i].dial(reading, r.view, "")
			if err != nil {
				return err
			}
			defer closeAll(conn)
			_, err = follow(reading, conn, ignore)
			return err
		})
	}
	must.Do(group.Wait())
	return users
}

// end ends the operator and deletes its view.
func (r *running) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	r.dialer.close()
	err := r.views.Delete(ctx, r.view.name, metav1.DeleteOptions{})
	r.Stop(ctx)
	return client.IgnoreNotFound(err)
}

// create creates the view.
func (r *running) create(ctx context.Context) {
	must.Get(r.views.Create(ctx, r.view.object(), metav1.CreateOptions{}))
}

// followed creates the view and returns a stream that has all of it, and the
// revision of that.
func (r *running) followed(ctx context.Context) (conn *websocket.Conn, rev string) {
	r.create(ctx)
	conn = must.Get(r.dialer.dial(ctx, r.view, ""))
	return conn, must.Get(follow(ctx, conn, ignore))
}

// measure runs the operator once, from the creation of its view to some seconds
// after a subscriber has all of it.
func (m *managers) measure(ctx context.Context) (s sample) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("the operator took longer than ten minutes"))
	defer cancel()
	r := m.start(ctx, whole)
	defer must.End(func() error { return r.end(ctx) })
	s.readMemory(r.PID())
	s.Idle = s.Resident
	var conn *websocket.Conn
	started := time.Now()
	s.Processor = spent(r.PID(), func() { conn, _ = r.followed(ctx) })
	s.Seconds = time.Since(started).Seconds()
	defer closeAll(conn)
	must.Do(wait(ctx, m.settle))
	s.readMemory(r.PID())
	return s
}

// metric returns the sum of all series of a metric that have some labels.
func (r *running) metric(ctx context.Context, name string, labels ...string) float64 {
	return must.Get(r.Metric(ctx, name, labels...))
}
