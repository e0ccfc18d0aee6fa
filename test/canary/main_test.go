package canary

import (
	"context"
	"flag"
	"testing"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/peers"
)

var (
	cluster *env.ControlPlane
	binary  string // of the operator
	manager *operator.Operator
)

// viaEdge lets another replica than the inspected one hold the views.
var viaEdge = flag.Bool("edge", false, "look into a replica that serves the views and does not hold them")

func TestMain(m *testing.M) {
	flag.Parse()
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
	if *viaEdge {
		return peers.Install(ctx, cluster, root)
	}
	return operator.Install(ctx, cluster, root)
}
