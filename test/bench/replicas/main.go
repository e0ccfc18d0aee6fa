package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/must"
	"graphview.dev/test/peers"
)

// patience bounds everything that is waited for: five replicas that begin at once on a
// busy machine read 100,000 objects each.
const patience = 15 * time.Minute

func main() { must.Main("replicas", run) }

// bench is one run.
type bench struct {
	plane      *env.ControlPlane
	binary     string
	objects    int
	namespaces int
	rounds     int
	table      document.Text
}

func run(ctx context.Context) {
	b := &bench{}
	path := flag.String("document", "docs/sizing.md", "the document to write the tables into, from the module's root; empty: none")
	parts := flag.String("parts", "memory,together,readers,latency,deaths", "what to measure")
	flag.IntVar(&b.objects, "objects", 13_000, "about how many objects there are")
	flag.IntVar(&b.namespaces, "namespaces", 90, "how many namespaces they are in, each with a view of its own")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each death is measured, of which the tables have the median")
	flag.Parse()
	root := must.Get(env.ModuleRoot())
	b.plane = b.loaded(ctx, root)
	defer must.End(b.plane.Stop)
	must.Do(peers.Install(ctx, b.plane, root))
	b.binary = must.Get(fixture.Build(ctx, root, "manager"))
	for _, part := range []struct {
		name    string
		measure func(context.Context)
	}{{"memory", b.memory}, {"together", b.together}, {"readers", b.readers}, {"latency", b.latency}, {"deaths", b.deaths}} {
		if strings.Contains(","+*parts+",", ","+part.name+",") {
			part.measure(ctx)
		}
	}
	if *path != "" {
		must.Do(b.table.Place(filepath.Join(root, *path), "replicas", "replicas"))
	}
}

// loadVersion must change with the content that furnish makes.
const loadVersion = 2

// loaded starts a control plane that has the objects. Those that were made before are
// copied from bin/bench. Pods need no ServiceAccount, because no controller creates any.
func (b *bench) loaded(ctx context.Context, root string) *env.ControlPlane {
	saved := filepath.Join(root, "bin", "bench", fmt.Sprintf("replicas-%d-%d-%d", loadVersion, b.objects, b.namespaces))
	o := env.Options{APIServerArgs: append([]string{"--disable-admission-plugins=ServiceAccount"}, env.Unlimited...), Log: os.Stderr}
	return must.Get(env.StartFilled(ctx, o, saved, false, func(ctx context.Context, plane *env.ControlPlane) error {
		return must.Try(func() { b.furnish(ctx, plane) })
	}))
}
