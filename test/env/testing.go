package env

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// StartT starts a control plane for one test and stops it after. A failed test
// shows the end of the programs' logs.
func StartT(tb testing.TB, o Options) *ControlPlane {
	tb.Helper()
	c, err := Start(tb.Context(), o)
	if err != nil {
		tb.Fatalf("control plane: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Log(c.Logs())
		}
		if err := c.Stop(); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
	return c
}

// Main is for TestMain: it starts a control plane for all tests of a package,
// puts it where plane points, runs the tests, stops it, and returns the exit
// code. Failed tests show the end of the programs' logs once.
func Main(m *testing.M, o Options, plane **ControlPlane) int {
	c, err := Start(context.Background(), o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "control plane: %v\n", err)
		return 1
	}
	*plane = c
	code := m.Run()
	if code != 0 {
		fmt.Fprint(os.Stderr, c.Logs())
	}
	if err := c.Stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the control plane: %v\n", err)
		return 1
	}
	return code
}
