package replicas

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

var (
	episodes = flag.Int("episodes", 2, "how many episodes TestEpisodes runs")
	seed     = flag.Uint64("seed", 14, "of the first episode; 0 takes one from the clock")
)

// What all tests share: three replicas, each view held by one.
var (
	cluster *env.ControlPlane
	edges   []*operator.Operator
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, TearDown: tearDown}.Run())
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
		return err
	}
	for _, file := range []string{"manager/certificates.yaml", "components/sharing/role.yaml"} {
		if _, err := cluster.Kubectl(ctx, "apply", "-f", filepath.Join(root, "config", filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	for i := range 3 {
		ports, err := env.FreePorts(1)
		if err != nil {
			return err
		}
		edge, err := operator.Start(cluster, operator.Options{Binary: binary, Name: fmt.Sprint("replica-", i), Args: []string{
			"--view-holders=1", fmt.Sprintf("--relay-bind-address=127.0.0.1:%d", ports[0]), "--permission-recheck=2s",
		}})
		if err != nil {
			return err
		}
		edges = append(edges, edge)
	}
	return nil
}

// tearDown ends the operators, none of which should fail at that or have raced.
func tearDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failed error
	for i, edge := range edges {
		exit := edge.Stop(ctx)
		text, err := os.ReadFile(edge.LogPath())
		if err != nil {
			return err
		}
		said := string(text)
		if exit != 0 || strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic") {
			failed = errors.Join(failed, fmt.Errorf("replica %d ended with %d; it said\n%s", i, exit, said[max(0, len(said)-4000):]))
		}
	}
	return failed
}

const patience = 90 * time.Second

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, patience, 50*time.Millisecond, check)
}
