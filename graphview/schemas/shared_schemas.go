package schemas

import (
	"maps"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// machinery is what the names of the schemas begin with that every kind has: of its
// metadata, say. They tell nothing, but that of a label selector.
const machinery = "io.k8s.apimachinery."

func isOfMachinery(name string) bool {
	return strings.HasPrefix(name, machinery) && !strings.HasSuffix(name, ".LabelSelector")
}

// shared are the schemas of a document that others point to, as those of extension
// servers do. The schemas of CustomResourceDefinitions point to none, and nothing is kept.
type shared struct {
	parts    map[string]*schema.Schema
	pointers map[*schema.Schema]string
	held     []heldKind
	// meter is of the fields that are kept, as many as one schema may have.
	meter *budget.Meter
	// taken says of parts that what they point to is in its place, or is being put there.
	taken map[string]state
}

// heldKind is a kind whose schema points to others.
type heldKind struct {
	kind   graph.Kind
	schema *schema.Schema
}

type state byte

const (
	begun state = iota + 1
	done
)

func newShared() *shared {
	return &shared{parts: map[string]*schema.Schema{}, pointers: map[*schema.Schema]string{}, meter: schema.Size.Meter(), taken: map[string]state{}}
}

// keep keeps a schema that others may point to.
func (s *shared) keep(name string, of *schema.Schema, pointers map[*schema.Schema]string, fields int) {
	if of == nil || isOfMachinery(name) || s.meter.Take(fields) != nil {
		return
	}
	s.parts[name] = of
	maps.Copy(s.pointers, pointers)
}

// hold keeps the schema of a kind until all that it may point to is read.
func (s *shared) hold(kind graph.Kind, of *schema.Schema, pointers map[*schema.Schema]string, fields int) {
	if s.meter.Take(fields) != nil {
		of = nil
	}
	s.held = append(s.held, heldKind{kind, of})
	maps.Copy(s.pointers, pointers)
}

// yield yields what was held, with all that it points to.
func (s *shared) yield(yield func(graph.Kind, *schema.Schema, error)) {
	for _, of := range s.held {
		if err := s.meter.Err(); err != nil {
			yield(of.kind, nil, err)
			continue
		}
		s.fill(of.schema)
		yield(of.kind, of.schema, nil)
	}
}

// fill puts what a schema points to in its place, and so on. A schema that contains
// itself ends where it would begin again.
func (s *shared) fill(of *schema.Schema) {
	if of == nil {
		return
	}
	if name, ok := s.pointers[of]; ok {
		delete(s.pointers, of)
		part := s.parts[name]
		if part == nil || s.taken[name] == begun {
			return
		}
		if s.taken[name] != done {
			s.taken[name] = begun
			s.fill(part)
			s.taken[name] = done
		}
		*of = *part
		return
	}
	for _, p := range of.Properties {
		s.fill(p.Schema)
	}
	s.fill(of.Items)
	s.fill(of.Values)
}
