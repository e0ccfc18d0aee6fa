package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"graphview.dev/hack/miner/mine"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "miner:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("miner", flag.ContinueOnError)
	file := flags.String("judgements", "", "a `file` of what a person judged of fields")
	fields := flags.String("fields", "", "also list fields: missed, wrong, unjudged, claims, or several, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("expected folders of manifests")
	}
	j, err := readJudgements(*file)
	if err != nil {
		return err
	}
	worlds, err := mine.Read(flags.Args()...)
	if err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	p, err := newProduct(worlds[0].Kinds)
	if err != nil {
		return err
	}
	c := newComparison(p, j)
	for _, w := range worlds {
		c.world(w)
	}
	c.print(out)
	for _, name := range strings.FieldsFunc(*fields, func(r rune) bool { return r == ',' }) {
		all, ok := map[string]map[field]*sighting{"missed": c.missed, "wrong": c.wrong, "unjudged": c.unjudged, "claims": c.claims}[name]
		if !ok {
			return fmt.Errorf("-fields %s: expected missed, wrong, unjudged or claims", name)
		}
		fmt.Fprintf(out, "\n%s:\n", name)
		printFields(out, all)
	}
	return nil
}
