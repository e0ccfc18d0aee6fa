package scenarios

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// plane is the control plane that all scenarios share.
var plane *env.ControlPlane

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // that of the scenarios' client
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &plane, Options: env.Options{APIServerArgs: []string{
		// No controller creates ServiceAccounts or removes finalizers here.
		"--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",
	}}})
}
