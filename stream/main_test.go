package stream

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// klog's daemon starts with its package and ends with the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}
