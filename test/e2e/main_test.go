package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

// What all tests share.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard())                                            // of the client that the workload has
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // of setting up
	defer cancel()
	root, err := env.ModuleRoot()
	if err != nil {
		return 1, err
	}
	binary, err := build(ctx, root)
	if err != nil {
		return 1, err
	}
	if cluster, err = env.Start(ctx, env.Options{ControllerManager: true}); err != nil {
		return 1, fmt.Errorf("control plane: %w", err)
	}
	defer func() {
		if code != 0 || err != nil {
			fmt.Fprint(os.Stderr, cluster.Logs())
		}
		err = errors.Join(err, cluster.Stop())
		if code == 0 && err == nil {
			err = goleak.Find()
		}
	}()
	if err := operator.Install(ctx, cluster, root); err != nil {
		return 1, fmt.Errorf("install: %w", err)
	}
	// Everything that the operator could possibly say is looked at.
	if manager, err = operator.Start(cluster, operator.Options{Binary: binary, Args: []string{"--zap-log-level=debug"}}); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	if err := manager.Register(ctx); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	if err := admitReaders(ctx); err != nil {
		return 1, fmt.Errorf("readers: %w", err)
	}
	code = m.Run()
	return code, healthy()
}

// build compiles the operator from the tree as it is. The go command sees
// whether there is anything to do.
func build(ctx context.Context, root string) (binary string, err error) {
	binary = filepath.Join(root, "bin", "e2e", "manager")
	args := []string{"build", "-buildvcs=false", "-o", binary}
	if raceDetector {
		args = append(args, "-race")
	}
	command := exec.CommandContext(ctx, "go", append(args, "./cmd/manager")...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return binary, nil
}

// healthy tells whether the operator, over all its runs, raced or panicked. What
// the log has of the race detector comes from a build with it.
func healthy() error {
	text, err := os.ReadFile(manager.LogPath())
	if err != nil {
		return fmt.Errorf("operator's log: %w", err)
	}
	for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: ", "Observed a panic"} {
		if at := bytes.Index(text, []byte(sign)); at >= 0 {
			return fmt.Errorf("the operator's log has: %s", text[at:min(len(text), at+8000)])
		}
	}
	return nil
}
