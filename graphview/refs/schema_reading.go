package refs

import (
	"slices"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/refs/schema"
)

// Reading is the compiled [SchemaRules] of a kind. It does not change, and is safe for
// concurrent use.
type Reading struct {
	root node
	// shape has the fields that the table and the schema of a listed kind read. It is nil for other
	// kinds, which are read whole.
	shape *jsontree.Shape
	rules int
	sum   uint64
}

// Rules returns the number of rules.
func (r *Reading) Rules() int {
	if r == nil {
		return 0
	}
	return r.rules
}

// Sum is a hash of the rules. It is equal for readings that find the same references, and 0 for nil.
func (r *Reading) Sum() uint64 {
	if r == nil {
		return 0
	}
	return r.sum
}

// Read compiles the rules of a kind's schema; it returns nil if there are none. The error
// is a *budget.Exceeded.
func (s *Served) Read(kind graph.Kind, of *schema.Schema) (*Reading, error) {
	found, err := s.SchemaRules(kind, of)
	if err != nil || len(found.Rules)+len(found.Silent)+len(found.Required) == 0 {
		return nil, err
	}
	r := &Reading{rules: len(found.Rules)}
	for i := range found.Rules {
		c, err := Compile(&found.Rules[i])
		if err != nil {
			return nil, err
		}
		c.end.plausible = c.end.method == Name || c.end.method == Object
		r.root.add(c.steps, c.end)
		r.sum += sumOf(&found.Rules[i])
	}
	for i, path := range slices.Concat(found.Silent, found.Required) {
		steps, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		n, silent := r.root.at(steps), i < len(found.Silent)
		n.silent, n.required = n.silent || silent, n.required || !silent
		r.sum += sumOf(&Rule{Path: path, Inferred: silent})
	}
	if own := Builtin().kinds.of(kind); own != nil {
		r.shape = r.root.shape()
		r.shape.Join(own.shape)
	}
	return r, nil
}

// SchemaAt returns the schema of the field at a path, nil if there is none.
func SchemaAt(of *schema.Schema, path string) *schema.Schema {
	steps, err := parsePath(path)
	if err != nil {
		return nil
	}
	return schemaAt(of, steps)
}

func schemaAt(of *schema.Schema, steps []step) *schema.Schema {
	for _, s := range steps {
		if of == nil {
			return nil
		}
		switch s.kind {
		case field:
			of = of.Property(s.key)
		case elements:
			of = of.Items
		case values:
			of = of.Values
		}
	}
	return of
}
