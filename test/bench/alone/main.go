package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// patience bounds everything that is waited for.
const patience = 15 * time.Minute

// measures are the tables, with the document that each is written into.
var measures = map[string]struct {
	document string
	measure  func(context.Context, *rest.Config, *options, *document.Text)
}{
	"crds":       {"docs/measured/references.md", measureCRDs},
	"namespaces": {"docs/measured/namespaces.md", measureNamespaces},
}

// options are the flags of single tables.
type options struct{ definitions, rounds, namespaces int }

func main() { must.Main("alone", run) }

func run(ctx context.Context) {
	var o options
	name := flag.String("measure", "namespaces", "crds or namespaces")
	write := flag.Bool("write", true, "write the table into its document")
	flag.IntVar(&o.definitions, "crds", 1500, "how many CustomResourceDefinitions to make")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each row of crds is measured; the table has the medians")
	flag.IntVar(&o.namespaces, "namespaces", 300, "how many namespaces to make")
	flag.Parse()
	m, ok := measures[*name]
	if !ok {
		must.Do(fmt.Errorf("-measure %q: want crds or namespaces", *name))
	}
	plane := must.Get(env.Start(ctx, env.Options{}))
	defer must.End(plane.Stop)
	var table document.Text
	m.measure(ctx, plane.Config(), &o, &table)
	if *write {
		must.Do(table.Place(m.document, *name, "alone -measure "+*name))
	}
}
