package refs

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

//go:embed table/*.refs
var tableFiles embed.FS

// Builtin returns the extractor of the built-in table.
func Builtin() *Extractor { return builtin().extractor }

// BuiltinRules returns the rules of the built-in table, for an extractor that
// knows more than they do. A rule's slices and maps are not to be modified.
func BuiltinRules() []Rule { return slices.Clone(builtin().rules) }

type compiled struct {
	table     *table
	rules     []Rule
	extractor *Extractor
}

// builtin panics if the table, which is part of the program, is not valid.
var builtin = sync.OnceValue(func() compiled {
	t, rules, err := readTable(tableFiles)
	if err != nil {
		panic(fmt.Sprintf("built-in reference table: %v", err))
	}
	extractor, err := New(rules...)
	if err != nil {
		panic(fmt.Sprintf("built-in reference table: %v", err))
	}
	return compiled{table: t, rules: rules, extractor: extractor}
})

// readTable reads every table file, in the order of their names.
func readTable(files fs.FS) (*table, []Rule, error) {
	names, err := fs.Glob(files, "table/*.refs")
	if err != nil {
		return nil, nil, fmt.Errorf("find table files: %w", err)
	}
	var t table
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read table: %w", err)
		}
		if err := t.read(name, string(text)); err != nil {
			return nil, nil, err
		}
	}
	rules, err := t.rules()
	return &t, rules, err
}
