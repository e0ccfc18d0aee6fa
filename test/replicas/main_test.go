package replicas

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/peers"
)

var (
	episodes = flag.Int("episodes", 2, "how many episodes TestEpisodes runs")
	seed     = flag.Uint64("seed", 14, "of the first episode; 0 takes one from the clock")
	long     = flag.Bool("long", false, "have all troubles, those too that take half a minute")
	only     = flag.String("trouble", "", "the trouble that every episode of TestEpisodes has, such as \"freeze\"; empty: one after the other")
)

// All tests share three replicas. Each view is held by one replica.
var (
	cluster *env.ControlPlane
	edges   []*peers.Replica
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard()) // that of the tests' clients
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
	if err := peers.Install(ctx, cluster, root); err != nil {
		return err
	}
	for i := range 3 {
		r, err := peers.Start(cluster, peers.Options{Binary: binary, Name: fmt.Sprint("replica-", i), Args: []string{"--permission-recheck=2s"}})
		if err != nil {
			return err
		}
		edges = append(edges, r)
	}
	return nil
}

// tearDown stops the operators. It returns an error if one fails to stop or had a data
// race.
func tearDown() error {
	played.write(os.Stdout)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failed error
	for _, edge := range edges {
		exit := edge.Stop(ctx)
		edge.Close()
		text, err := os.ReadFile(edge.LogPath())
		if err != nil {
			return err
		}
		said := string(text)
		if exit != 0 || strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic") {
			failed = errors.Join(failed, fmt.Errorf("%s ended with %d; it said\n%s", edge.Name, exit, said[max(0, len(said)-4000):]))
		}
	}
	return failed
}

const patience = 90 * time.Second

func eventually(t *testing.T, check func() string) {
	t.Helper()
	fixture.Eventually(t, patience, 50*time.Millisecond, check)
}
