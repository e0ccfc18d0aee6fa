package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-js:", err)
		os.Exit(1)
	}
}

// run starts everything, runs the tests, and ends everything. Arguments are those
// of node's test runner.
func run(ctx context.Context, args []string) (err error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	plane, err := env.Start(ctx, env.Options{ControllerManager: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := operator.Install(ctx, plane, root); err != nil {
		return err
	}
	manager, err := operator.Start(plane, operator.Options{
		Binary: filepath.Join(root, "bin", "manager"),
		// The page is not from the host that the API server asks for.
		Args: []string{"--allowed-origins=127.0.0.1:*", "--dashboard", "--permission-recheck=10s"},
	})
	if err != nil {
		return err
	}
	if err := manager.Register(ctx); err != nil {
		return err
	}
	token, err := prepare(ctx, plane)
	if err != nil {
		return fmt.Errorf("scene: %w\n%s", err, plane.Logs())
	}
	archive, err := pack(ctx, plane, root)
	if err != nil {
		return err
	}
	relay, err := newFront(plane, manager, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, relay.close()) }()
	return runTests(ctx, root, append(os.Environ(),
		"GRAPHVIEW_URL="+relay.url(), "GRAPHVIEW_TOKEN="+token,
		"GRAPHVIEW_TOOLS="+filepath.Join(root, "bin", ".js"), "GRAPHVIEW_OUT="+filepath.Join(root, "bin", "js-test"),
		"GRAPHVIEW_PACKAGE="+archive, "GRAPHVIEW_KUBECTL="+plane.KubectlPath(), "KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"),
	), args)
}

// pack makes the package of a release, as npm takes it.
func pack(ctx context.Context, plane *env.ControlPlane, root string) (string, error) {
	const version = "1.2.3"
	out := filepath.Join(plane.Dir(), "release")
	command := exec.CommandContext(ctx, "go", "run", "./hack/release", "-version", "v"+version, "-parts", "npm", "-allow-dirty", "-out", out)
	command.Dir = root
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("package: %w\n%s", err, text)
	}
	return filepath.Join(out, "v"+version, "graphview-npm-"+version+".tgz"), nil
}

// runTests runs node on the tests, whose output is this program's.
func runTests(ctx context.Context, root string, environment, args []string) error {
	dir := filepath.Join(root, "test", "js")
	files, err := filepath.Glob(filepath.Join(dir, "*.test.mjs"))
	if err != nil {
		return err
	}
	// Unit tests of the dashboard need no server, and run first.
	parts, err := filepath.Glob(filepath.Join(root, "test", "dashboard", "*.test.mjs"))
	if err != nil {
		return err
	}
	files = append(parts, files...)
	// One after another: there are few cores, and one operator. Before Node.js 22 a
	// WebSocket like a browser's has to be asked for.
	args = append([]string{"--experimental-websocket", "--test", "--test-concurrency=1", "--test-reporter=spec"}, args...)
	command := exec.CommandContext(ctx, "node", append(args, files...)...)
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, environment, os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	if err := command.Run(); err != nil {
		return fmt.Errorf("tests: %w", err)
	}
	return nil
}
