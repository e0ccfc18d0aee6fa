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
	"graphview.dev/test/patience"
)

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	binary  string             // of the operator
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
	if binary, err = fixture.Build(ctx, root, "manager"); err != nil {
		return err
	}
	if err := operator.Install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if limits, err = shippedLimits(); err != nil {
		return err
	}
	if err := start(limits); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := served(ctx, manager); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	return nil
}

// start starts the attacked operator with limits.
func start(limits shipped) error {
	ports, err := env.FreePorts(2)
	if err != nil {
		return err
	}
	webhook, profile = ports[0], ports[1]
	state := filepath.Join(cluster.Dir(), "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	manager, err = operator.Start(cluster, operator.Options{Binary: binary, Env: []string{fmt.Sprintf("GOMEMLIMIT=%d", limits.goMemLimit)}, Args: []string{
		"--state-dir=" + state,
		fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", webhook),
		fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", profile),
	}})
	return err
}

// withLess replaces the operator, until the test ends, by one with a quarter of the shipped memory, in which a namespace
// reaches its share with a quarter of the objects.
func withLess(t *testing.T) {
	t.Helper()
	whole, all, ports := manager, limits, [...]int{webhook, profile}
	stop := func(ctx context.Context) {
		if exit := manager.Stop(ctx); exit != 0 {
			t.Errorf("the operator ended with %d", exit)
		}
	}
	stop(t.Context())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience.For(within))
		defer cancel()
		if manager != nil && manager != whole {
			stop(ctx)
		}
		manager, limits, webhook, profile = whole, all, ports[0], ports[1]
		if err := manager.Restart(); err != nil {
			t.Fatal(err)
		}
		if err := served(ctx, manager); err != nil {
			t.Error(err)
		}
	})
	limits = shipped{memory: all.memory / 4, goMemLimit: all.goMemLimit / 4}
	if err := start(limits); err != nil {
		t.Fatal(err)
	}
	if err := served(t.Context(), manager); err != nil {
		t.Fatal(err)
	}
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
