package hostile

import (
	"context"
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
	"graphview.dev/test/operator"
)

// What all tests share.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
	limits  shipped

	webhook, profiles int // ports of the operator
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, TearDown: func() error { return manager.Exited() }})
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
	if err := operator.Install(ctx, cluster, root); err != nil {
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
	if manager, err = operator.Start(cluster, operator.Options{
		Binary: binary, Env: []string{"GOMEMLIMIT=" + limits.goMemLimit}, Args: []string{
			"--state-dir=" + state,
			fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", webhook),
			fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", profiles),
		},
	}); err != nil {
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
