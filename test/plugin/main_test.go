package plugin

import (
	"context"
	"errors"
	"flag"
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

var update = flag.Bool("update", false, "write what the plugin says to testdata")

// What all tests share.
var (
	cluster *env.ControlPlane
	manager *operator.Operator
	folder  string // of the programs
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard())                                            // of the client that the workload has
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // of setting up
	defer cancel()
	root, err := env.ModuleRoot()
	if err != nil {
		return 1, err
	}
	folder = filepath.Join(root, "bin", "plugin")
	for program, path := range map[string]string{"manager": "./cmd/manager", "kubectl-graphview": "./cmd/kubectl-graphview"} {
		if err := build(ctx, root, program, path); err != nil {
			return 1, err
		}
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
	if manager, err = operator.Start(cluster, operator.Options{Binary: filepath.Join(folder, "manager")}); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	if err := manager.Register(ctx); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	if err := install(ctx); err != nil {
		return 1, fmt.Errorf("what tests look at: %w", err)
	}
	return m.Run(), nil
}

// build compiles a program from the tree as it is. The go command sees whether
// there is anything to do.
func build(ctx context.Context, root, program, path string) error {
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", filepath.Join(folder, program), path)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return nil
}
