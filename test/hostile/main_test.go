package hostile

import (
	"context"
	"errors"
	"flag"
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
	"graphview.dev/test/peers"
)

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	// manager is the attacked operator. holding is the operator that holds the graphs: the same
	// or another one.
	manager, holding *operator.Operator
	limits           shipped

	webhook  int   // port of the operator
	profiles []int // ports of all operators
)

// viaEdge has another replica hold the views. replicas are the two then.
var (
	viaEdge  = flag.Bool("edge", false, "attack a replica that serves the views and does not hold them")
	replicas []*peers.Replica
)

// operators are all that run.
func operators() []*operator.Operator {
	if holding == manager {
		return []*operator.Operator{manager}
	}
	return []*operator.Operator{manager, holding}
}

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
		install = peers.Install
	}
	if err := install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if limits, err = shippedLimits(); err != nil {
		return err
	}
	if err := start(ctx, binary); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := served(ctx, manager); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	return nil
}

// start starts the attacked operator. With -edge, a second operator holds the graphs.
func start(ctx context.Context, binary string) error {
	ports, err := env.FreePorts(4)
	if err != nil {
		return err
	}
	options := func(name string, webhook, profile int) (peers.Options, error) {
		state := filepath.Join(cluster.Dir(), name)
		profiles = append(profiles, profile)
		return peers.Options{Binary: binary, Env: []string{"GOMEMLIMIT=" + limits.goMemLimit}, Args: []string{
			"--state-dir=" + state,
			fmt.Sprintf("--webhook-bind-address=127.0.0.1:%d", webhook),
			fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", profile),
		}}, os.Mkdir(state, 0o700)
	}
	webhook = ports[0]
	attacked, err := options("state", webhook, ports[1])
	if err != nil {
		return err
	}
	if !*viaEdge {
		manager, err = operator.Start(cluster, operator.Options{Binary: binary, Env: attacked.Env, Args: attacked.Args})
		holding = manager
		return err
	}
	other, err := options("holder-state", ports[2], ports[3])
	if err != nil {
		return err
	}
	holder, edge, err := peers.StartEdge(ctx, cluster, other, attacked)
	if err != nil {
		return err
	}
	replicas, manager, holding = []*peers.Replica{holder, edge}, edge.Operator, holder.Operator
	return nil
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
