package troubles

import (
	"context"
	"os"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// hubPlane is the control plane of the hub, and memberPlanes are those of the members.
var (
	hubPlane     *env.ControlPlane
	memberPlanes [2]*env.ControlPlane
)

func TestMain(m *testing.M) {
	os.Exit(fixture.Suite{M: m, Plane: &hubPlane, SetUp: func(ctx context.Context) (err error) {
		for i := range memberPlanes {
			// They outlive the set-up.
			if memberPlanes[i], err = env.Start(context.WithoutCancel(ctx), env.Options{GCPercent: env.TestGCPercent}); err != nil {
				return err
			}
		}
		return nil
	}, TearDown: func() error {
		for _, plane := range memberPlanes {
			if plane != nil {
				if err := plane.Stop(); err != nil {
					return err
				}
			}
		}
		return nil
	}}.Run())
}
