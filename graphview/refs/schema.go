package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// Schema is what an OpenAPI schema says of a value, as far as it may tell references.
type Schema struct {
	// Type is string, object, array or whatever else.
	Type string
	// Description may be the beginning of it, as long as MaxDescription.
	Description string
	// Closed: the value is one of a list, or of a format other than a name's.
	Closed bool
	// Embedded: the value is an object of its own, with apiVersion and kind.
	Embedded bool
	// Properties are those of an object, sorted by their keys.
	Properties []Property
	// Items is of the elements of a list, Values of the values of a map.
	Items, Values *Schema
}

// Property is a field of an object.
type Property struct {
	Key    string
	Schema *Schema
}

// MaxDescription is how much of a description is looked at.
const MaxDescription = 1000

var (
	schemaValues = budget.Declare("schema_values_kind", "fields in the schema of one kind", 50_000)
	schemaRules  = budget.Declare("schema_rules_kind", "references that the schema of one kind tells", 2_000)
)

// Reading is what the schema of a kind tells about the references of its objects. It
// does not change, and is safe for concurrent use.
type Reading struct {
	root node
	// shape is what is looked at of a kind that the table lists; of others everything is.
	shape *jsontree.Shape
	rules int
	sum   uint64
}

// Rules is how many rules there are, and Equal tells whether another reading says the
// same.
func (r *Reading) Rules() int {
	if r == nil {
		return 0
	}
	return r.rules
}

// Equal tells whether two readings say the same.
func (r *Reading) Equal(other *Reading) bool {
	if r == nil || other == nil {
		return r == other
	}
	return r.rules == other.rules && r.sum == other.sum
}

// property returns the schema of a field, nil if there is none.
func (s *Schema) property(key string) *Schema {
	if s == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.Properties, key, func(p Property, key string) int { return strings.Compare(p.Key, key) })
	if !ok {
		return nil
	}
	return s.Properties[i].Schema
}

// has tells whether an object has all of these fields.
func (s *Schema) has(keys ...string) bool {
	for _, key := range keys {
		if s.property(key) == nil {
			return false
		}
	}
	return true
}

// At returns the schema of the field at a path, nil if there is none.
func (s *Schema) At(path string) *Schema {
	steps, err := parsePath(path)
	if err != nil {
		return nil
	}
	return s.at(steps)
}

// Has tells whether an object has a field.
func (s *Schema) Has(key string) bool { return s.property(key) != nil }

// at returns the schema at the end of steps, nil if there is none.
func (s *Schema) at(steps []step) *Schema {
	for _, of := range steps {
		if s == nil {
			return nil
		}
		switch of.kind {
		case field:
			s = s.property(of.key)
		case elements:
			s = s.Items
		case values:
			s = s.Values
		}
	}
	return s
}

// Told is what a schema tells: rules, and fields that are no references though their
// keys look so.
type Told struct {
	Rules  []Rule
	Silent []string
}

// Tell reads a kind's schema: the types of Kubernetes by their shape, and the
// descriptions that name a kind. Of a kind that the table lists it tells what the table
// does not know. The error is a *budget.Exceeded: the schema tells nothing.
func (s *Served) Tell(kind graph.Kind, schema *Schema) (Told, error) {
	if settled[kind.Group] || schema == nil {
		return Told{}, nil
	}
	var table *node
	if own := Builtin().kinds.of(kind); own != nil {
		table = own.root
	}
	t := teller{served: s, kind: kind, listed: table != nil, values: schemaValues.Meter(), rules: schemaRules.Meter(), told: map[string]bool{}}
	for _, p := range schema.Properties {
		switch p.Key {
		case "apiVersion", "kind", "metadata":
		default:
			if p.Key == "status" && t.listed {
				continue // the table says which of what a status tells is of use
			}
			if below, ok := (place{table: table}).below(p.Key); ok {
				t.visit(below, p.Schema)
			}
		}
	}
	for _, m := range [...]*budget.Meter{t.values, t.rules} {
		if err := m.Err(); err != nil {
			return Told{}, err
		}
	}
	return t.result, nil
}

// Read is Tell, compiled; nil if nothing is told.
func (s *Served) Read(kind graph.Kind, schema *Schema) (*Reading, error) {
	told, err := s.Tell(kind, schema)
	if err != nil || len(told.Rules)+len(told.Silent) == 0 {
		return nil, err
	}
	r := &Reading{rules: len(told.Rules)}
	for i := range told.Rules {
		steps, end, err := compile(&told.Rules[i])
		if err != nil {
			return nil, err
		}
		end.plausible = end.method == Name || end.method == Object
		r.root.add(steps, end)
		r.sum += sumOf(&told.Rules[i])
	}
	for _, path := range told.Silent {
		steps, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		r.root.silence(steps)
		r.sum += sumOf(&Rule{Path: path})
	}
	if own := Builtin().kinds.of(kind); own != nil {
		r.shape = r.looksAt()
		r.shape.Join(own.shape)
	}
	return r, nil
}

// looksAt makes the shape of what the reading looks at.
func (r *Reading) looksAt() *jsontree.Shape {
	shape := ownShape()
	r.root.addShape([]*jsontree.Shape{shape})
	return shape
}
