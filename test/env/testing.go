package env

import "testing"

// TestGCPercent is the GCPercent of the control planes of tests. A kube-apiserver takes an eighth less processor
// time than with 100, and up to 1.2 GB of memory in place of 0.5.
const TestGCPercent = 400

// StartT starts a control plane for one test and stops it after the test. A failed test
// prints the end of the programs' logs.
func StartT(tb testing.TB, o Options) *ControlPlane {
	tb.Helper()
	o.GCPercent = TestGCPercent
	c, err := Start(tb.Context(), o)
	if err != nil {
		tb.Fatalf("control plane: %v", err)
	}
	stopAfter(tb, c)
	return c
}

func stopAfter(tb testing.TB, c *ControlPlane) {
	tb.Helper()
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Log(c.Logs())
		}
		if err := c.Stop(); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
}
