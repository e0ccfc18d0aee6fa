package hostile

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

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
	binary := filepath.Join(root, "bin", "hostile", "manager")
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
	if manager, err = operator.Start(cluster, operator.Options{Binary: binary}); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	if err := served(ctx); err != nil {
		return 1, fmt.Errorf("operator: %w", err)
	}
	return m.Run(), manager.Exited()
}

// served waits until the operator answers.
func served(ctx context.Context) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(manager.Port())))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}
