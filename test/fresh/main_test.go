package fresh

import (
	"context"
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
	if folder, err = fixture.BuildAll(ctx, root, "manager", "kubectl-graphview"); err != nil {
		return err
	}
	manager, err = operator.Deploy(ctx, cluster, root, operator.Options{Binary: filepath.Join(folder, "manager")})
	return err
}
