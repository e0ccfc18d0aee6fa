package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
)

var documentBound = budget.Declare("test_schema_document", "bytes of a test", 1)

// schemaFake is the documents of a cluster, each with its kinds' schemas and address.
type schemaFake struct {
	addresses map[string]string
	schemas   map[string]map[graph.Kind]*schema.Schema
	failing   map[string]error
	reads     []string
	// before is called when a document is about to be read.
	before func(path string)
}

func (f *schemaFake) Index(context.Context) (map[string]string, error) { return f.addresses, nil }

func (f *schemaFake) Read(_ context.Context, address string, wanted func(graph.Kind) bool, yield func(graph.Kind, *schema.Schema, error)) error {
	path, _, _ := strings.Cut(address, "?")
	if f.before != nil {
		f.before(path)
	}
	f.reads = append(f.reads, path)
	if err := f.failing[path]; err != nil {
		return err
	}
	for kind, of := range f.schemas[path] {
		if wanted(kind) {
			yield(kind, of, nil)
		}
	}
	return nil
}

func (f *schemaFake) takeReads() []string {
	reads := f.reads
	f.reads = nil
	return reads
}

// withSelectors returns the schema of a kind in which fields select the key of a Secret.
func withSelectors(fields ...string) *schema.Schema {
	selector := &schema.Schema{Type: "object", Properties: []schema.Property{
		{Key: "key", Schema: &schema.Schema{Type: "string", KeyOf: "Secret"}}, {Key: "name", Schema: &schema.Schema{Type: "string"}},
	}}
	spec := &schema.Schema{Type: "object"}
	for _, key := range fields {
		spec.Properties = append(spec.Properties, schema.Property{Key: key, Schema: selector})
	}
	return &schema.Schema{Type: "object", Properties: []schema.Property{{Key: "spec", Schema: spec}}}
}

// put gives a kind a schema in which fields select the key of a Secret.
func (f *schemaFake) put(path string, kind graph.Kind, fields ...string) {
	if f.schemas[path] == nil {
		f.schemas[path] = make(map[graph.Kind]*schema.Schema)
	}
	f.schemas[path][kind] = withSelectors(fields...)
	f.addresses[path] = fmt.Sprintf("%s?hash=%s", path, strings.Join(fields, "-"))
}

func newSchemaFake() (*schemaFake, *SchemaReader) {
	f := &schemaFake{addresses: map[string]string{}, schemas: map[string]map[graph.Kind]*schema.Schema{}, failing: map[string]error{}}
	s := NewSchemaReader(NewSet(func() {}), SchemaOptions{Client: f})
	s.rules.Serve(refs.NewServed(map[graph.Kind]graph.Scope{{Group: "example.com", Kind: "Widget"}: graph.ScopeNamespaced}))
	return f, s
}

func (s *SchemaReader) mustPass(t *testing.T, wanted map[string][]graph.Kind) {
	t.Helper()
	all := make(map[string]map[graph.Kind]bool)
	for path, kinds := range wanted {
		all[path] = make(map[graph.Kind]bool)
		for _, kind := range kinds {
			all[path][kind] = true
		}
	}
	if err := s.pass(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// told counts what is told of each kind.
func (s *SchemaReader) told() map[string]int {
	told := make(map[string]int)
	for kind, reading := range s.rules.Current().readings {
		told[kind.Kind] = reading.Rules()
	}
	return told
}

// TestSchemasOfTwoVersions: views watch two versions of a kind. The newest stable one
// counts, and what goes with the other one is that one's alone.
func TestSchemasOfTwoVersions(t *testing.T) {
	const stable, beta = "apis/example.com/v1", "apis/example.com/v1beta1"
	f, s := newSchemaFake()
	widget := graph.Kind{Group: "example.com", Kind: "Widget"}
	f.put(stable, widget, "a", "b")
	f.put(beta, widget, "a")
	for _, step := range []struct {
		name      string
		paths     []string
		want      map[string]int
		wantReads []string
	}{
		{"Both", []string{stable, beta}, map[string]int{"Widget": 2}, []string{stable, beta}},
		{"BetaGoes", []string{stable}, map[string]int{"Widget": 2}, nil},
		{"StableGoes", []string{beta}, map[string]int{"Widget": 1}, []string{beta}},
		{"NoneIsLeft", nil, map[string]int{}, nil},
	} {
		wanted := make(map[string][]graph.Kind)
		for _, path := range step.paths {
			wanted[path] = []graph.Kind{widget}
		}
		s.mustPass(t, wanted)
		if diff := cmp.Diff(step.want, s.told()); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.wantReads, f.takeReads()); diff != "" {
			t.Errorf("%s: read (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestSchemasThatCannotBeRead delay nothing that can be, and are tried again when they
// change, or later and later.
func TestSchemasThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad, good = "apis/bad.example.com/v1", "apis/good.example.com/v1"
		f, s := newSchemaFake()
		badKind, goodKind := graph.Kind{Group: "bad.example.com", Kind: "Bad"}, graph.Kind{Group: "good.example.com", Kind: "Good"}
		f.put(bad, badKind, "a")
		f.put(good, goodKind, "a")
		wanted := map[string][]graph.Kind{bad: {badKind}, good: {goodKind}}
		check := func(when string, wantTold map[string]int, wantReads ...string) {
			t.Helper()
			s.mustPass(t, wanted)
			if diff := cmp.Diff(wantTold, s.told()); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", when, diff)
			}
			if diff := cmp.Diff(wantReads, f.takeReads()); diff != "" {
				t.Errorf("%s: read (-want +got):\n%s", when, diff)
			}
		}
		check("all is well", map[string]int{"Bad": 1, "Good": 1}, bad, good)

		f.failing[bad] = errors.New("no answer")
		f.put(bad, badKind, "a", "b")
		check("what was read stays", map[string]int{"Bad": 1, "Good": 1}, bad)
		time.Sleep(schemaBackoff.Duration - 1)
		check("it is too early", map[string]int{"Bad": 1, "Good": 1})
		time.Sleep(time.Nanosecond)
		f.put(good, goodKind, "a", "b")
		f.before = func(path string) {
			if told := s.told()["Good"]; path == bad && told != 2 {
				t.Errorf("what was read before a document that hangs tells %d references meanwhile, want 2", told)
			}
		}
		check("it is tried again, last", map[string]int{"Bad": 1, "Good": 2}, good, bad)
		time.Sleep(schemaBackoff.Duration)
		check("the second time later", map[string]int{"Bad": 1, "Good": 2})
		f.put(bad, badKind, "a", "b", "c")
		f.failing[bad] = documentBound.Exceed()
		check("it changed, and is too large", map[string]int{"Good": 2}, bad)
		f.put(bad, badKind, "a")
		delete(f.failing, bad)
		check("it can be read again", map[string]int{"Bad": 1, "Good": 2}, bad)

		f.failing[bad] = errors.New("no answer")
		f.put(bad, badKind, "a", "b")
		s.mustPass(t, wanted)
		delete(wanted, bad)
		f.takeReads()
		check("nobody wants what could not be read", map[string]int{"Good": 2})
	})
}
