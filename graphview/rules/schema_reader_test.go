package rules

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
	"graphview.dev/graphview/schemas"
)

// openAPI is an API server that serves OpenAPI documents, in the process. Each document has one kind.
type openAPI struct {
	documents map[string]string // by path in the index
	addresses map[string]string
	// failing has answers in place of documents.
	failing map[string]func() *http.Response
	reads   []string
	// before is called when a document is about to be read.
	before func(path string)
}

// RoundTrip implements http.RoundTripper.
func (f *openAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	path, isDocument := strings.CutPrefix(r.URL.Path, "/openapi/v3/")
	if !isDocument {
		var index []string
		for path, address := range f.addresses {
			index = append(index, fmt.Sprintf("%q: {\"serverRelativeURL\": %q}", path, address))
		}
		return answer(http.StatusOK, strings.NewReader(`{"paths": {`+strings.Join(index, ", ")+"}}")), nil
	}
	if f.before != nil {
		f.before(path)
	}
	f.reads = append(f.reads, path)
	if failing := f.failing[path]; failing != nil {
		return failing(), nil
	}
	return answer(http.StatusOK, strings.NewReader(f.documents[path])), nil
}

func answer(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body)}
}

func noAnswer() *http.Response { return answer(http.StatusNotFound, strings.NewReader("{}")) }
func tooLarge() *http.Response { return answer(http.StatusOK, spaces{}) }

// spaces is a document without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func (f *openAPI) takeReads() []string {
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
func (f *openAPI) put(path string, kind graph.Kind, fields ...string) {
	selector := `{"type": "object", "properties": {"key": {"type": "string", "description": "The key of the secret to select from."}, "name": {"type": "string"}}}`
	var properties []string
	for _, key := range fields {
		properties = append(properties, fmt.Sprintf("%q: %s", key, selector))
	}
	f.documents[path] = fmt.Sprintf(`{"components": {"schemas": {"it": {"type": "object", "x-kubernetes-group-version-kind": [{"group": %q, "version": %q, "kind": %q}],
		"properties": {"spec": {"type": "object", "properties": {%s}}}}}}}`, kind.Group, schemas.Version(path), kind.Kind, strings.Join(properties, ", "))
	f.addresses[path] = fmt.Sprintf("/openapi/v3/%s?hash=%s", path, strings.Join(fields, "-"))
}

func newOpenAPI(t *testing.T) (*openAPI, *SchemaReader) {
	t.Helper()
	f := &openAPI{documents: map[string]string{}, addresses: map[string]string{}, failing: map[string]func() *http.Response{}}
	client, err := schemas.New(&rest.Config{Host: "http://cluster.example.com", Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSchemaReader(NewSet(func() {}), SchemaOptions{Client: client})
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
	f, s := newOpenAPI(t)
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
		f, s := newOpenAPI(t)
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

		f.failing[bad] = noAnswer
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
		f.failing[bad] = tooLarge
		check("it changed, and is too large", map[string]int{"Good": 2}, bad)
		f.put(bad, badKind, "a")
		delete(f.failing, bad)
		check("it can be read again", map[string]int{"Bad": 1, "Good": 2}, bad)

		f.failing[bad] = noAnswer
		f.put(bad, badKind, "a", "b")
		s.mustPass(t, wanted)
		delete(wanted, bad)
		f.takeReads()
		check("nobody wants what could not be read", map[string]int{"Good": 2})
	})
}
