package history

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
	manager *operator.Operator
	folder  string // of the programs
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, Options: env.Options{ControllerManager: true}, SetUp: setUp})
}

// historyDir is the directory of the history.
func historyDir() string { return filepath.Join(cluster.Dir(), "history") }

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	if folder, err = fixture.BuildAll(ctx, root, "manager", "kubectl-graphview"); err != nil {
		return err
	}
	if manager, err = operator.Deploy(ctx, cluster, root, operator.Options{Binary: filepath.Join(folder, "manager"), Args: []string{"--history-dir=" + historyDir()}}); err != nil {
		return err
	}
	return cluster.InstallCRDs(ctx, filepath.Join("testdata", "kinds"))
}
