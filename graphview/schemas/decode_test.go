package schemas

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
)

func TestRead(t *testing.T) {
	const text = `{"openapi": "3.0.0", "paths": {"/apis": {"get": {"x-kubernetes-group-version-kind": {"kind": "Widget"}}}}, "components": {"schemas": {
		"com.example.v1.Widget": {"type": "object", "properties": {
			"spec": {"required": ["b", "none"], "type": "object", "properties": {
				"b": {"type": "string", "description": "The key of the secret to select from.  Must be a valid secret key.", "enum": ["x"]},
				"a": {"type": "array", "items": {"type": "string", "format": "date-time"}},
				"m": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
				"e": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
				"n": {"x-kubernetes-embedded-resource": "yes"}, "odd": [1, {"type": "string"}], "null": null, "any": {"additionalProperties": true, "items": false, "type": ["string", "null"]}}},
			"metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}},
			"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Widget", "version": "v1"}]},
		"com.example.v1.WidgetList": {"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "WidgetList", "version": "v1"}]},
		"ObjectMeta": {"properties": {"name": {"type": "string"}}}}, "other": 1}}`
	got := map[graph.Kind]*schema.Schema{}
	err := Read(strings.NewReader(text), func(k graph.Kind) bool { return k.Kind == "Widget" }, func(k graph.Kind, s *schema.Schema, err error) {
		if err != nil {
			t.Error(err)
		}
		got[k] = s
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[graph.Kind]*schema.Schema{{Group: "example.com", Kind: "Widget"}: {Type: "object", Properties: []schema.Property{
		{Key: "metadata", Schema: &schema.Schema{}},
		{Key: "spec", Schema: &schema.Schema{Type: "object", Properties: []schema.Property{
			{Key: "a", Schema: &schema.Schema{Type: "array", Items: &schema.Schema{Type: "string", Closed: true}}},
			{Key: "any", Schema: &schema.Schema{}},
			{Key: "b", Schema: &schema.Schema{Type: "string", KeyOf: "Secret", Closed: true}, Required: true},
			{Key: "e", Schema: &schema.Schema{Type: "object", Embedded: true}},
			{Key: "m", Schema: &schema.Schema{Type: "object", Values: &schema.Schema{Type: "string"}}},
			{Key: "n", Schema: &schema.Schema{}},
		}}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schemas (-want +got):\n%s", diff)
	}
}

// TestReadPointers: the schemas of extension servers point to others of their document,
// before and after them, and to themselves.
func TestReadPointers(t *testing.T) {
	const text = `{"components": {"schemas": {
		"a.Part": {"type": "object", "properties": {"secret": {"$ref": "#/components/schemas/z.Named"}, "parts": {"type": "array", "items": {"$ref": "#/components/schemas/a.Part"}}}},
		"b.Widget": {"type": "object", "properties": {
			"metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
			"spec": {"description": "The spec.", "default": {}, "allOf": [{"$ref": "#/components/schemas/a.Part"}]},
			"other": {"$ref": "#/components/schemas/none"}, "far": {"$ref": "https://example.com/x"}},
			"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Widget", "version": "v1"}]},
		"c.Plain": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Plain", "version": "v1"}]},
		"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}},
		"z.Named": {"type": "object", "description": "Name of the Secret.", "properties": {"name": {"type": "string"}}}}}}`
	got := map[string]*schema.Schema{}
	var order []string
	err := Read(strings.NewReader(text), func(graph.Kind) bool { return true }, func(k graph.Kind, s *schema.Schema, err error) {
		if err != nil {
			t.Error(err)
		}
		got[k.Kind], order = s, append(order, k.Kind)
	})
	if err != nil {
		t.Fatal(err)
	}
	named := &schema.Schema{Type: "object", Properties: []schema.Property{{Key: "name", Schema: &schema.Schema{Type: "string"}}}}
	want := &schema.Schema{Type: "object", Properties: []schema.Property{
		{Key: "far", Schema: &schema.Schema{}},
		{Key: "metadata", Schema: &schema.Schema{}},
		{Key: "other", Schema: &schema.Schema{}},
		{Key: "spec", Schema: &schema.Schema{Type: "object", Properties: []schema.Property{
			{Key: "parts", Schema: &schema.Schema{Type: "array", Items: &schema.Schema{}}},
			{Key: "secret", Schema: named},
		}}},
	}}
	if diff := cmp.Diff(want, got["Widget"]); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Plain", "Widget"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestHostilePointers: schemas that double with each step, and more of them than are kept.
func TestHostilePointers(t *testing.T) {
	var doubling, many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"p%d": {"properties": {"a": {"$ref": "#/components/schemas/p%d"}, "b": {"$ref": "#/components/schemas/p%d"}}},`, i, i+1, i+1)
	}
	for i := range schema.Size.Limit() {
		fmt.Fprintf(&many, `"p%d": {"type": "string"},`, i)
	}
	for name, test := range map[string]struct {
		parts   string
		exceeds bool
	}{"Doubling": {doubling.String(), false}, "Many": {many.String(), true}} {
		t.Run(name, func(t *testing.T) {
			text := `{"components": {"schemas": {` + test.parts +
				`"w": {"properties": {"spec": {"$ref": "#/components/schemas/p0"}}, "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Widget"}]}}}}`
			kinds := 0
			err := Read(strings.NewReader(text), func(graph.Kind) bool { return true }, func(k graph.Kind, s *schema.Schema, err error) {
				kinds++
				var exceeded *budget.Exceeded
				if errors.As(err, &exceeded) != test.exceeds {
					t.Errorf("error %v", err)
				}
				served := refs.NewServed(map[graph.Kind]graph.Scope{k: graph.ScopeNamespaced})
				if _, err := served.Explain(k, s); err != nil && !errors.As(err, &exceeded) {
					t.Error(err)
				}
			})
			if err != nil || kinds != 1 {
				t.Errorf("%d kinds, error %v", kinds, err)
			}
		})
	}
}

// TestReadRefuses what is no document, and goes on with what is none of its own.
func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"Nothing": "", "Cut": `{"components": {"schemas": {"a": {"type": "obj`, "Page": "<html>", "CutList": `{"components": {"schemas": {"a": {"x-kubernetes-group-version-kind": [`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := Read(strings.NewReader(text), func(graph.Kind) bool { return true }, func(graph.Kind, *schema.Schema, error) {}); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestHostileDocuments: schemas of one kind that are too large cost that kind alone.
func TestHostileDocuments(t *testing.T) {
	var fields strings.Builder
	for i := range schema.Size.Limit() + 1 {
		fmt.Fprintf(&fields, `"f%d": {},`, i)
	}
	deep := strings.Repeat(`{"properties": {"a": `, 2000) + "{}" + strings.Repeat("}}", 2000)
	text := fmt.Sprintf(`{"components": {"schemas": {
		"a": {"properties": {%s "z": {}}, "x-kubernetes-group-version-kind": [{"kind": "Large"}]},
		"b": {"properties": {"a": %s}, "description": "%s", "x-kubernetes-group-version-kind": [{"kind": "Deep"}]},
		"c": {"type": "object", "x-kubernetes-group-version-kind": [{"kind": "Good"}]}}}}`, fields.String(), deep, strings.Repeat("x", 1_000_000))
	got := map[string]bool{}
	err := Read(strings.NewReader(text), func(graph.Kind) bool { return true }, func(k graph.Kind, _ *schema.Schema, err error) {
		var exceeded *budget.Exceeded
		if got[k.Kind] = err == nil; err != nil && !errors.As(err, &exceeded) {
			t.Errorf("%s: %v names no bound", k.Kind, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"Large": false, "Deep": true, "Good": true}, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"type": "string", "description": "The key to select."}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Decode(strings.NewReader(text))
		if err != nil || s == nil {
			return
		}
		served := refs.NewServed(map[graph.Kind]graph.Scope{{Group: "example.com", Kind: "Widget"}: graph.ScopeNamespaced})
		kind := graph.Kind{Group: "example.com", Kind: "Widget"}
		if _, err := served.Read(kind, s); err != nil {
			t.Errorf("read: %v", err)
		}
		if _, err := served.Explain(kind, s); err != nil {
			t.Errorf("explain: %v", err)
		}
	})
}
