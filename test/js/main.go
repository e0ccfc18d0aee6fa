package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

func main() {
	must.Main("test-js", func(ctx context.Context) { run(ctx, os.Args[1:]) })
}

// run starts the control plane and the operator, runs the tests, and stops both. Arguments are for
// node's test runner, except for a first one of -folder=FOLDER, which has other tests for the same scene.
func run(ctx context.Context, args []string) {
	root := must.Get(env.ModuleRoot())
	folder := "test/js"
	if len(args) > 0 && strings.HasPrefix(args[0], "-folder=") {
		folder, args = strings.TrimPrefix(args[0], "-folder="), args[1:]
	}
	programs := must.Get(fixture.BuildAll(ctx, root, "manager", "kubectl-graphview"))
	plane := must.Get(env.Start(ctx, env.Options{ControllerManager: true, GCPercent: env.TestGCPercent}))
	defer must.End(plane.Stop)
	manager := must.Get(operator.Deploy(ctx, plane, root, operator.Options{
		Binary: filepath.Join(programs, "manager"),
		// The page is not from the host that the API server asks for.
		Args: []string{"--allowed-origins=127.0.0.1:*", "--dashboard", "--permission-recheck=10s"},
	}))
	token, err := prepare(ctx, plane)
	if err != nil {
		must.Do(fmt.Errorf("scene: %w\n%s", err, plane.Logs()))
	}
	archive := pack(ctx, plane, root)
	relay := newFront(plane, manager, root)
	defer must.End(relay.close)
	runTests(ctx, root, folder, append(os.Environ(),
		"GRAPHVIEW_URL="+relay.url(), "GRAPHVIEW_TOKEN="+token,
		"GRAPHVIEW_TOOLS="+filepath.Join(root, "bin", ".js"), "GRAPHVIEW_OUT="+filepath.Join(root, "bin", "js-test"),
		"GRAPHVIEW_PACKAGE="+archive, "GRAPHVIEW_KUBECTL="+plane.KubectlPath(), "GRAPHVIEW_PLUGIN="+filepath.Join(programs, "kubectl-graphview"),
		"KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"),
	), args)
}

// pack builds the npm package of a release.
func pack(ctx context.Context, plane *env.ControlPlane, root string) string {
	const version = "1.2.3"
	out := filepath.Join(plane.Dir(), "release")
	command := exec.CommandContext(ctx, "go", "run", "./hack/release", "-version", "v"+version, "-parts", "npm", "-allow-dirty", "-out", out)
	command.Dir = root
	if text, err := command.CombinedOutput(); err != nil {
		must.Do(fmt.Errorf("package: %w\n%s", err, text))
	}
	return filepath.Join(out, "v"+version, "graphview-npm-"+version+".tgz")
}

// runTests runs the tests of a folder with node, whose output goes to that of this program.
func runTests(ctx context.Context, root, folder string, environment, args []string) {
	dir := filepath.Join(root, folder)
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.test.mjs")))
	// Before Node.js 22 the global WebSocket needs a flag.
	args = append(append([]string{"--experimental-websocket", "--test-reporter=spec"}, args...), filepath.Join(root, "test", "js", "all.mjs"))
	command := exec.CommandContext(ctx, "node", append(args, files...)...)
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, environment, os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	must.Do(command.Run())
}
