package main

import (
	"context"
	"flag"
	"io"
	"os"

	"graphview.dev/graphview/refs"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

func main() {
	directory := flag.String("crds", "", "print what would be read of the CustomResourceDefinitions in the YAML files of this directory")
	flag.Parse()
	must.Main("refscoverage", func(ctx context.Context) {
		if *directory != "" {
			printDefinitions(os.Stdout, *directory)
		} else {
			run(ctx, os.Stdout)
		}
	})
}

func run(ctx context.Context, out io.Writer) {
	known := must.Get(parseOmissions(omissionsText))
	plane := must.Get(env.Start(ctx, env.Options{APIServerArgs: []string{"--runtime-config=api/all=true"}}))
	defer must.End(plane.Stop)
	kinds := readKinds(ctx, plane.Config())
	rules := refs.BuiltinRules()
	printRows(out, rules)
	must.Do(printGaps(out, rules, kinds, known))
}
