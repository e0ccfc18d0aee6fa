package main

import (
	"context"
	"os"

	"graphview.dev/test/document"
	"graphview.dev/test/must"
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
	must.Main("docs", func(context.Context) {
		for _, p := range pages {
			run(p.definition, p.page)
		}
	})
}

func run(definition, page string) {
	root := must.Get(parse(must.Get(os.ReadFile(definition))))
	must.Do(document.Replace(page, startMark, endMark, "\n"+render(root)+"\n"))
}
