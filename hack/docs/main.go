package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// pages says where fields are declared, and where they are described. The program
// runs at the root of the repository.
var pages = []struct{ definition, page string }{
	{"config/crd/bases/graphview.dev_graphviews.yaml", "docs/graphview.md"},
	{"config/crd/bases/graphview.dev_referencerules.yaml", "docs/referencerule.md"},
}

const (
	startMark = "<!-- fields:start, written by make generate -->"
	endMark   = "<!-- fields:end -->"
)

func main() {
	for _, p := range pages {
		if err := run(p.definition, p.page); err != nil {
			fmt.Fprintln(os.Stderr, "docs:", err)
			os.Exit(1)
		}
	}
}

func run(definition, page string) error {
	text, err := os.ReadFile(definition)
	if err != nil {
		return err
	}
	root, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", definition, err)
	}
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	after, err := splice(string(before), render(root))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if after == string(before) {
		return nil
	}
	return os.WriteFile(page, []byte(after), 0o644)
}

// splice replaces what is between the markers of a page.
func splice(page, fields string) (string, error) {
	head, rest, started := strings.Cut(page, startMark)
	_, tail, ended := strings.Cut(rest, endMark)
	if !started || !ended {
		return "", errors.New("the markers are missing: " + startMark + " and " + endMark)
	}
	return head + startMark + "\n\n" + fields + "\n" + endMark + tail, nil
}
