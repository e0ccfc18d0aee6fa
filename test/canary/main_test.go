package canary

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

var (
	cluster *env.ControlPlane
	binary  string // of the operator
	plugin  string
	manager *operator.Operator
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp})
}

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	// Without the race detector, whose shadow memory is many times as large and
	// has nothing of anybody's.
	if binary, err = fixture.Build(ctx, root, "manager"); err != nil {
		return err
	}
	if plugin, err = fixture.Build(ctx, root, "kubectl-graphview"); err != nil {
		return err
	}
	return operator.Install(ctx, cluster, root)
}
