package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
)

// viaHub has all clients read the graphs at a hub, as those of a member of its fleet. hubPlane is the
// hub's control plane, and hub its operators.
var (
	viaHub   = flag.Bool("hub", false, "read the graphs at a hub, of which the operator is a member")
	hubPlane *env.ControlPlane
	hub      *operator.Hub
)

// raceOperator is the environment variable that asks for an operator with the race detector. The tests share no code with
// the operator, so they run without it, in a third of the processor time.
const raceOperator = "GRAPHVIEW_RACE_OPERATOR"

// link is the name of the cluster at the hub.
const link = "e2e-1"

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard()) // of the client that the workload has
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: setUp, TearDown: tearDown})
}

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	race := fixture.Race
	if os.Getenv(raceOperator) != "" {
		race = []string{"-race"}
	}
	binary, err := fixture.Build(ctx, root, "manager", race...)
	if err != nil {
		return err
	}
	if err := operator.Install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	// Everything that the operator could possibly say is looked at.
	o := operator.Options{Binary: binary, Args: []string{"--zap-log-level=debug"}}
	if *viaHub {
		if err := startHub(ctx, root, binary); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
		manager, err = hub.Join(ctx, link, "End to end", cluster, o)
	} else {
		manager, err = operator.Start(cluster, o)
	}
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := manager.Register(ctx); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := admitReaders(ctx); err != nil {
		return fmt.Errorf("readers: %w", err)
	}
	return nil
}

// startHub starts a hub on a control plane of its own, whose users may all open the graphs of its
// members.
func startHub(ctx context.Context, root, binary string) (err error) {
	// It outlives the set-up.
	if hubPlane, err = env.Start(context.WithoutCancel(ctx), env.Options{ControllerManager: true, GCPercent: env.TestGCPercent}); err != nil {
		return err
	}
	if err := operator.Install(ctx, hubPlane, root); err != nil {
		return err
	}
	if hub, err = operator.StartHub(hubPlane, operator.Options{Binary: binary}); err != nil {
		return err
	}
	if _, err := hubPlane.Kubectl(ctx, "create", "clusterrolebinding", "everybody", "--clusterrole=graphview-fleet-viewer", "--group=system:authenticated"); err != nil {
		return err
	}
	return hub.Register(ctx)
}

func tearDown() error {
	if hubPlane != nil {
		if hub != nil {
			hub.Close()
		}
		defer func() { _ = hubPlane.Stop() }() // its control plane is not tested
	}
	return healthy()
}

// healthy returns an error if the operator had a data race or a panic in any of its runs.
// The binary is built with the race detector, which writes to the log.
func healthy() error {
	text, err := os.ReadFile(manager.LogPath())
	if err != nil {
		return fmt.Errorf("operator's log: %w", err)
	}
	for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "panic serving", "fatal error: ", "Observed a panic"} {
		if at := bytes.Index(text, []byte(sign)); at >= 0 {
			return fmt.Errorf("the operator's log has: %s", text[at:min(len(text), at+8000)])
		}
	}
	return nil
}
