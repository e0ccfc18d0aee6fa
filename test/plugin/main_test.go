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
	if folder, err = fixture.BuildAll(ctx, root, "manager", "kubectl-graphview"); err != nil {
		return err
	}
	if manager, err = operator.Deploy(ctx, cluster, root, operator.Options{Binary: filepath.Join(folder, "manager")}); err != nil {
		return err
	}
	if err := install(ctx); err != nil {
		return fmt.Errorf("what tests look at: %w", err)
	}
	return nil
}
