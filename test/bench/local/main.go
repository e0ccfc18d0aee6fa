package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
)

func main() { must.Main("local", run) }

func run(ctx context.Context) {
	objects := flag.String("objects", "500,13000", "numbers of objects, separated by commas")
	runs := flag.Int("runs", 5, "runs of each command, of which the table has the medians")
	flag.Parse()
	plugin := must.Get(fixture.Build(ctx, must.Get(env.ModuleRoot()), "kubectl-graphview"))
	var table document.Text
	table.Head("objects", "user", "command", "wall", "CPU", "peak memory", "requests")
	for text := range strings.SplitSeq(*objects, ",") {
		measureSize(ctx, must.Get(strconv.Atoi(text)), *runs, plugin, &table)
	}
}

// measureSize writes the rows for one number of objects.
func measureSize(ctx context.Context, objects, runs int, plugin string, table *document.Text) {
	dir := must.Get(os.MkdirTemp("", "graphview-bench-local-"))
	defer os.RemoveAll(dir)
	plane := must.Get(env.Start(ctx, env.Options{Audit: true}))
	defer must.End(plane.Stop)
	furnish(ctx, plane, objects)
	m := measurer{plane: plane, env: append(os.Environ(), "HOME="+dir, "KUBECACHEDIR="+filepath.Join(dir, "cache"))}
	for user, config := range map[string]*rest.Config{"admin": plane.Config(), "two": plane.ClientConfig("two")} {
		must.Do(env.WriteKubeconfig(filepath.Join(dir, user), config))
	}
	two := namespaceOf(0) + "," + namespaceOf(1)
	for _, r := range []row{
		{"admin", "dashboard --local -A", dashboard, []string{plugin, "dashboard", "--local", "-A", "--no-open"}},
		{"admin", "tree --local -A", command, []string{plugin, "tree", "--local", "-A"}},
		{"admin", "problems --local -A", command, []string{plugin, "problems", "--local", "-A"}},
		{"admin", "kubectl get all -A", command, []string{plane.KubectlPath(), "get", "all", "-A"}},
		{"two", "dashboard --local -n a,b", dashboard, []string{plugin, "dashboard", "--local", "-n", two, "--no-open"}},
		{"two", "tree --local -n a,b", command, []string{plugin, "tree", "--local", "-n", two}},
		{"two", "problems --local -n a", command, []string{plugin, "problems", "--local", "-n", namespaceOf(0)}},
		{"two", "kubectl get all -n a", command, []string{plane.KubectlPath(), "get", "all", "-n", namespaceOf(0)}},
	} {
		var all []sample
		for range runs {
			all = append(all, m.measure(ctx, r, filepath.Join(dir, r.user)))
		}
		slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.wall, b.wall) })
		s := all[len(all)/2]
		table.Row(objects, r.user, "`"+r.name+"`", fmt.Sprintf("%.2f s", s.wall.Seconds()), fmt.Sprintf("%.2f s", s.cpu.Seconds()), fmt.Sprintf("%d MB", s.memory>>20), s.requests)
	}
}

// row is a command of the table.
type row struct {
	user, name string
	run        func(ctx context.Context, environment, args []string) sample
	args       []string
}

// sample is the cost of one run.
type sample struct {
	wall, cpu time.Duration
	memory    int64 // bytes
	requests  int
}
