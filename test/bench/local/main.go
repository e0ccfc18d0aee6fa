package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	objects := flag.String("objects", "500,13000", "numbers of objects, separated by commas")
	runs := flag.Int("runs", 5, "runs of each command, of which the table has the medians")
	flag.Parse()
	if err := run(ctx, *objects, *runs, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, objects string, runs int, out io.Writer) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	plugin, err := fixture.Build(ctx, root, "kubectl-graphview")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| objects | user | command | wall | CPU | peak memory | requests |\n|---|---|---|---|---|---|---|")
	for text := range strings.SplitSeq(objects, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-objects: %w", err)
		}
		if err := measureSize(ctx, n, runs, plugin, out); err != nil {
			return fmt.Errorf("%d objects: %w", n, err)
		}
	}
	return nil
}

// measureSize prints the rows for one number of objects.
func measureSize(ctx context.Context, objects, runs int, plugin string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "graphview-bench-local-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plane, err := env.Start(ctx, env.Options{Audit: true})
	if err != nil {
		return err
	}
	defer func() { _ = plane.Stop() }() // what was measured is printed already
	if err := furnish(ctx, plane, objects); err != nil {
		return err
	}
	m := measurer{plane: plane, env: append(os.Environ(), "HOME="+dir, "KUBECACHEDIR="+filepath.Join(dir, "cache"))}
	for user, config := range map[string]string{"admin": filepath.Join(dir, "admin"), "view in two namespaces": filepath.Join(dir, "two")} {
		of := plane.Config()
		if user != "admin" {
			of = plane.ClientConfig("two")
		}
		if err := env.WriteKubeconfig(config, of); err != nil {
			return fmt.Errorf("kubeconfig of %s: %w", user, err)
		}
	}
	two := namespaceOf(0) + "," + namespaceOf(1)
	rows := []row{
		{"admin", "dashboard --local -A", dashboard, []string{plugin, "dashboard", "--local", "-A", "--no-open"}},
		{"admin", "tree --local -A", command, []string{plugin, "tree", "--local", "-A"}},
		{"admin", "problems --local -A", command, []string{plugin, "problems", "--local", "-A"}},
		{"admin", "kubectl get all -A", command, []string{plane.KubectlPath(), "get", "all", "-A"}},
		{"two", "dashboard --local -n a,b", dashboard, []string{plugin, "dashboard", "--local", "-n", two, "--no-open"}},
		{"two", "tree --local -n a,b", command, []string{plugin, "tree", "--local", "-n", two}},
		{"two", "problems --local -n a", command, []string{plugin, "problems", "--local", "-n", namespaceOf(0)}},
		{"two", "kubectl get all -n a", command, []string{plane.KubectlPath(), "get", "all", "-n", namespaceOf(0)}},
	}
	for _, r := range rows {
		var all []sample
		for range runs {
			s, err := m.measure(ctx, r, filepath.Join(dir, r.user))
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			all = append(all, s)
		}
		slices.SortFunc(all, func(a, b sample) int { return int(a.wall - b.wall) })
		s := all[len(all)/2]
		fmt.Fprintf(out, "| %d | %s | `%s` | %.2f s | %.2f s | %d MB | %d |\n",
			objects, r.user, r.name, s.wall.Seconds(), s.cpu.Seconds(), s.memory>>20, s.requests)
	}
	return nil
}

// row is a command of the table.
type row struct {
	user, name string
	run        func(context.Context, *measurer, []string, []string) (sample, error)
	args       []string
}

// sample is the cost of one run.
type sample struct {
	wall, cpu time.Duration
	memory    int64 // bytes
	requests  int
}
