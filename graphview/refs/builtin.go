package refs

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"graphview.dev/graphview/graph"
)

//go:embed table/*.refs
var tableFiles embed.FS

// Builtin returns the extractor of the built-in table.
func Builtin() *Extractor { return builtin().extractor }

// BuiltinRules returns the rules of the built-in table, for an extractor with further
// rules.
func BuiltinRules() []Rule {
	return builtin().table.mustRules(func(graph.Kind) bool { return true })
}

type compiled struct {
	table     *table
	extractor *Extractor
}

// builtin panics if the table, which is part of the program, is not valid. It compiles
// the rules of a kind at the first use, because the whole table takes 10 MB.
var builtin = sync.OnceValue(func() compiled {
	t, err := readTable(tableFiles)
	if err != nil {
		panic(invalidTable(err))
	}
	x, err := New(t.rulesOf(AnyKind)...)
	if err != nil {
		panic(invalidTable(err))
	}
	for _, h := range t.headings {
		for _, kind := range h.kinds {
			if kind != AnyKind && x.kinds[kind] == nil && len(h.rows) > 0 {
				x.kinds[kind] = sync.OnceValue(func() *ruling { return t.ruling(kind) })
			}
		}
	}
	return compiled{table: t, extractor: x}
})

func invalidTable(err error) string { return fmt.Sprintf("built-in reference table: %v", err) }

// rulesOf returns the rules of a kind and the rules for every kind, in the order of the
// table, without those of targets in other clusters.
func (t *table) rulesOf(kind graph.Kind) []Rule {
	return t.mustRules(func(k graph.Kind) bool { return k == kind || k == AnyKind })
}

// mustRules calls rules for a table that is part of the program. It panics if the table
// is not valid; a test checks that it is.
func (t *table) mustRules(wanted func(graph.Kind) bool) []Rule {
	rules, err := t.rules(wanted)
	if err != nil {
		panic(invalidTable(err))
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return r.Remote != "" })
}

// ruling compiles the rules of a kind and the rules for every kind. It panics as
// mustRules does.
func (t *table) ruling(kind graph.Kind) *ruling {
	x, err := New(t.rulesOf(kind)...)
	if err != nil {
		panic(invalidTable(err))
	}
	if r := x.kinds.of(kind); r != nil {
		return r
	}
	return &ruling{root: &x.others, shape: x.bare}
}

// readTable reads every table file, in the order of their names.
func readTable(files fs.FS) (*table, error) {
	names, err := fs.Glob(files, "table/*.refs")
	if err != nil {
		return nil, fmt.Errorf("find table files: %w", err)
	}
	var t table
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read table: %w", err)
		}
		if err := t.read(name, string(text)); err != nil {
			return nil, err
		}
	}
	return &t, nil
}
