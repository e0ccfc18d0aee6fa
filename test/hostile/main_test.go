package hostile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/fleet"
	"graphview.dev/test/operator"
)

// What all tests share.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
	limits  shipped

	webhook, profiles int // ports of the operator
)

// viaEdge has another replica hold the views. replicas are the two then: that one, and
// the one that is attacked.
var (
	viaEdge  = flag.Bool("edge", false, "attack a replica that serves the views and does not hold them")
	replicas []*fleet.Replica
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, TearDown: tearDown})
}

func tearDown() error {
	err := manager.Exited()
	for _, r := range replicas {
		err = errors.Join(err, r.Exited())
		r.Close()
	}
	return err
}

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	binary, err := fixture.Build(ctx, root, "manager")
	if err != nil {
		return err
	}
	install := operator.Install
	if *viaEdge {
		install = fleet.Install
	}
	if err := install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	state := filepath.Join(cluster.Dir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if limits, err = shippedLimits(); err != nil {
		return err
	}
	ports, err := env.FreePorts(2)
	if err != nil {
		return err
	}
	webhook, profiles = ports[0], ports[1]
	args, variables := []string{
		"--state-dir=" + state,
		fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", webhook),
		fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", profiles),
	}, []string{"GOMEMLIMIT=" + limits.goMemLimit}
	if *viaEdge {
		var holder, edge *fleet.Replica
		if holder, edge, err = fleet.StartEdge(ctx, cluster, fleet.Options{Binary: binary, Args: args, Env: variables}); err == nil {
			replicas, manager = []*fleet.Replica{holder, edge}, edge.Operator
		}
	} else {
		manager, err = operator.Start(cluster, operator.Options{Binary: binary, Env: variables, Args: args})
	}
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := served(ctx); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	return nil
}

// served waits until the operator answers.
func served(ctx context.Context) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(manager.Port())))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}
