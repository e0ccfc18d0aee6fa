package hostile

import (
	"context"
	"fmt"
	"net"
	"net/url"
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

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	manager *operator.Operator // that is attacked
	limits  shipped

	webhook int // port of the operator
	profile int // port of the operator
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, TearDown: tearDown})
}

func tearDown() error { return manager.Exited() }

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
	if limits, err = shippedLimits(); err != nil {
		return err
	}
	if err := start(binary); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := served(ctx, manager); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	return nil
}

// start starts the attacked operator.
func start(binary string) error {
	ports, err := env.FreePorts(2)
	if err != nil {
		return err
	}
	webhook, profile = ports[0], ports[1]
	state := filepath.Join(cluster.Dir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		return err
	}
	manager, err = operator.Start(cluster, operator.Options{Binary: binary, Env: []string{"GOMEMLIMIT=" + limits.goMemLimit}, Args: []string{
		"--state-dir=" + state,
		fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", webhook),
		fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", profile),
	}})
	return err
}

// served waits until an operator serves graphs and metrics.
func served(ctx context.Context, o *operator.Operator) error {
	metrics, err := url.Parse(o.MetricsURL())
	if err != nil {
		return err
	}
	for _, address := range []string{net.JoinHostPort("localhost", strconv.Itoa(o.Port())), metrics.Host} {
		if err := listening(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

// listening waits until a server listens at an address.
func listening(ctx context.Context, address string) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := net.Dial("tcp", address)
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
