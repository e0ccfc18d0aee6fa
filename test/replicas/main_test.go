package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
	"graphview.dev/test/patience"
)

// All tests share three replicas.
var (
	cluster  *env.ControlPlane
	binary   string
	replicas []*operator.Operator
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // that of the tests' clients
	os.Exit(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, TearDown: tearDown}.Run())
}

func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	if binary, err = fixture.Build(ctx, root, "manager", fixture.Race...); err != nil {
		return err
	}
	if err := operator.Install(ctx, cluster, root); err != nil {
		return err
	}
	for range 3 {
		if err := start(); err != nil {
			return err
		}
	}
	return nil
}

// start starts one more replica.
func start() error {
	name := fmt.Sprint("replica-", len(replicas))
	r, err := operator.Start(cluster, operator.Options{Binary: binary, Name: name, Env: []string{"POD_NAME=" + name}, Args: []string{"--leader-elect"}})
	if err == nil {
		replicas = append(replicas, r)
	}
	return err
}

// tearDown stops the replicas. It returns an error if one has ended before, fails to stop, or had a
// data race.
func tearDown() (failed error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.For(time.Minute))
	defer cancel()
	for _, r := range replicas {
		if err := r.Exited(); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		exit := r.Stop(ctx)
		text, err := os.ReadFile(r.LogPath())
		if err != nil {
			return err
		}
		if said := string(text); exit != 0 || strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic") {
			failed = errors.Join(failed, fmt.Errorf("a replica ended with %d; it said\n%s", exit, said[max(0, len(said)-4000):]))
		}
	}
	return failed
}

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, 90*time.Second, 50*time.Millisecond, check)
}
