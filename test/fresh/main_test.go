package fresh

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	folder  string // of the plugin
	manager *operator.Operator
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, Options: env.Options{ControllerManager: true}})
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
	return manager.Register(ctx)
}
