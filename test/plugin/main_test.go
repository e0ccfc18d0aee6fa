package plugin

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

var update = flag.Bool("update", false, "write what the plugin says to testdata")

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
	folder  string // of the programs
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard()) // of the client that the workload has
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true, PodGarbageCollector: true}, SetUp: setUp})
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
	if _, err := fixture.Build(ctx, root, "kubectl-graphview"); err != nil {
		return err
	}
	folder = filepath.Dir(binary)
	if err := operator.Install(ctx, cluster, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if manager, err = operator.Start(cluster, operator.Options{Binary: binary}); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := manager.Register(ctx); err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	if err := install(ctx); err != nil {
		return fmt.Errorf("what tests look at: %w", err)
	}
	return nil
}
