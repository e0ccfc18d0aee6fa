package e2e

import (
	"bytes"
	"context"
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

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client that the workload has
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: setUp, TearDown: healthy})
}

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	binary, err := fixture.Build(ctx, root, "manager", fixture.Race...)
	if err != nil {
		return err
	}
	if err := operator.Install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	// Everything that the operator could possibly say is looked at.
	if manager, err = operator.Start(cluster, operator.Options{Binary: binary, Args: []string{"--zap-log-level=debug"}}); err != nil {
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
