package env

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes this test's binary start a control plane, say what it
// started, and wait to be killed.
const childVariable = "GRAPHVIEW_ENV_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// report is what the child prints.
type report struct {
	Dir  string `json:"dir"`
	Pids []int  `json:"pids"`
}

func child() {
	c, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(report{Dir: c.Dir(), Pids: c.pids()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func (c *ControlPlane) pids() []int {
	var pids []int
	for _, p := range []*Process{c.etcd, c.apiServer, c.controllerManager} {
		if p != nil {
			pids = append(pids, p.cmd.Process.Pid)
		}
	}
	return pids
}
