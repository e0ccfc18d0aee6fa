package schemas

import (
	"maps"
	"strings"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// machineryPrefix is the prefix of the names of schemas that all kinds share, such as that of metadata. Only
// that of a label selector helps to find references.
const machineryPrefix = "io.k8s.apimachinery."

func isOfMachinery(name string) bool {
	return strings.HasPrefix(name, machineryPrefix) && !strings.HasSuffix(name, ".LabelSelector")
}

// shared has the schemas of a document that point to each other, as those of extension servers do. The
// schemas of CustomResourceDefinitions point to none, and nothing is kept.
type shared struct {
	parts    map[string]*schema.Schema
	pointers map[*schema.Schema]string
	held     []heldKind
	// meter limits the fields that are kept to those of one schema.
	meter *budget.Meter
	// taken says whether the pointers of a part are resolved, or are being resolved.
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

// hold keeps the schema of a kind until all schemas that it may point to are read.
func (s *shared) hold(kind graph.Kind, of *schema.Schema, pointers map[*schema.Schema]string, fields int) {
	if s.meter.Take(fields) != nil {
		of = nil
	}
	s.held = append(s.held, heldKind{kind, of})
	maps.Copy(s.pointers, pointers)
}

// yield yields the held schemas, with their pointers resolved.
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

// fill replaces pointers by the schemas that they point to, at any depth. A schema that contains itself
// ends where it begins again.
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
