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
	return builtin().table.mustRules(func(graph.Kind) bool { return true }, false)
}

type compiled struct {
	table     *table
	extractor *Extractor
}

// builtin reads the built-in table, and panics if it is not valid: the table is part of the program. The
// rules of a kind are compiled at their first use, because all of them take 10 MB.
var builtin = sync.OnceValue(func() compiled {
	t, err := readTable(tableFiles)
	if err != nil {
		panic(invalidTable(err))
	}
	x := mustNew(t.rulesOf(AnyKind)...)
	for _, h := range t.headings {
		for _, kind := range h.kinds {
			if kind != AnyKind && x.kinds[kind] == nil && len(h.rows) > 0 {
				x.kinds[kind] = sync.OnceValue(func() *kindRules { return t.ruling(kind) })
			}
		}
	}
	return compiled{table: t, extractor: x}
})

func invalidTable(err error) string { return fmt.Sprintf("built-in reference table: %v", err) }

// mustNew is New for rules of the built-in table. It panics if they are not valid.
func mustNew(rules ...Rule) *Extractor {
	x, err := New(rules...)
	if err != nil {
		panic(invalidTable(err))
	}
	return x
}

// rulesOf returns the rules of a kind and the rules for every kind, in the order of the table, without
// rules for targets in other clusters.
func (t *table) rulesOf(kind graph.Kind) []Rule {
	return t.mustRules(func(k graph.Kind) bool { return k == kind || k == AnyKind }, false)
}

// mustRules returns the rules of the wanted kinds: those for targets in other clusters if isRemote is
// set, else all others. It panics if the table is not valid; a test checks that it is.
func (t *table) mustRules(wanted func(graph.Kind) bool, isRemote bool) []Rule {
	rules, err := t.rules(wanted)
	if err != nil {
		panic(invalidTable(err))
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return (r.Remote != "") != isRemote })
}

// ruling compiles the rules of a kind and the rules for every kind. It panics as
// mustRules does.
func (t *table) ruling(kind graph.Kind) *kindRules {
	x := mustNew(t.rulesOf(kind)...)
	if r := x.kinds.of(kind); r != nil {
		return r
	}
	return &kindRules{root: &x.commonRules, shape: x.commonShape}
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
