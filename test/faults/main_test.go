package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

var (
	episodes = flag.Int("episodes", 4, "how many episodes TestFaults runs")
	scenes   = flag.Int("scenes", 4, "how many of them run at once, each in an engine of its own; what happens to the control plane happens to all")
	seed     = flag.Uint64("seed", 14, "of the first episode; 0 takes one from the clock")
	only     = flag.String("trouble", "", "a sort of trouble that every episode of TestFaults has, such as \"etcd slow\"; empty: they are drawn")
	rounds   = flag.Int("rounds", 10, "how many rounds TestNothingIsLeftBehind runs")
)

// plane is the control plane that all tests share. ConfigMaps and Secrets have
// no watch cache, and etcd is compacted all the time: a watch of these that was
// away for some seconds finds its position gone. The others find that when the
// API server was restarted.
var plane *env.ControlPlane

func TestMain(m *testing.M) {
	flag.Parse()
	// A dead connection is found in seconds rather than in the better part of a
	// minute; that it is found is client-go's doing either way.
	for name, value := range map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "3", "HTTP2_PING_TIMEOUT_SECONDS": "2"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(fixture.Suite{
		M: m, Plane: &plane,
		Options: env.Options{
			ControllerManager: true,
			APIServerArgs:     []string{"--etcd-compaction-interval=1s", "--watch-cache-sizes=configmaps#0,secrets#0"},
		},
		TearDown: func() error {
			played.write(os.Stdout)
			return nil
		},
	})
}
