package canary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

var (
	cluster *env.ControlPlane
	binary  string // of the operator
	manager *operator.Operator
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // of setting up
	defer cancel()
	root, err := env.ModuleRoot()
	if err != nil {
		return 1, err
	}
	// Without the race detector, whose shadow memory is many times as large and
	// has nothing of anybody's.
	binary = filepath.Join(root, "bin", "canary", "manager")
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", binary, "./cmd/manager")
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	if cluster, err = env.Start(ctx, env.Options{}); err != nil {
		return 1, fmt.Errorf("control plane: %w", err)
	}
	defer func() {
		if code != 0 || err != nil {
			fmt.Fprint(os.Stderr, cluster.Logs())
		}
		if stopped := cluster.Stop(); err == nil {
			err = stopped
		}
	}()
	if err := operator.Install(ctx, cluster, root); err != nil {
		return 1, fmt.Errorf("install: %w", err)
	}
	return m.Run(), nil
}
