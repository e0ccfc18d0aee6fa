package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

var widget = graph.Kind{Group: "example.com", Kind: "Widget"}

func TestShapes(t *testing.T) {
	const schemas = `{
		"Local": {"properties": {"name": {"type": "string"}}},
		"Object": {"properties": {"kind": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": "string"}}},
		"Recursive": {"properties": {"below": {"$ref": "#/components/schemas/Recursive"}, "secretName": {"type": "string"}}},
		"Widget": {"properties": {
			"metadata": {"properties": {"generateName": {"type": "string"}}},
			"name": {"type": "string"},
			"nodeName": {"type": "string"},
			"displayed": {"type": "string"},
			"pullSecrets": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/Local"}]}},
			"consumer": {"$ref": "#/components/schemas/Object"},
			"podSelector": {"type": "object"},
			"resourceNames": {"type": "array", "items": {"type": "string"}},
			"byZone": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Recursive"}},
			"tree": {"$ref": "#/components/schemas/Recursive"}
		}}
	}`
	w := walk{found: map[string]bool{}}
	if err := json.Unmarshal([]byte(schemas), &w.schemas); err != nil {
		t.Fatal(err)
	}
	w.fields("", w.schemas["Widget"], nil)
	want := []string{"byZone{}.secretName", "consumer", "nodeName", "podSelector", "pullSecrets[]", "resourceNames[]", "tree.secretName"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(w.found))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestPrintGaps(t *testing.T) {
	rules := []refs.Rule{{From: widget, Path: "spec.secretRef.name"}, {From: widget, Path: "spec.nodes[]"}}
	for name, test := range map[string]struct {
		fields    []string
		omissions string
		want      string
	}{
		"Covered":     {fields: []string{"spec.secretRef", "spec.nodes[].name"}},
		"Gap":         {fields: []string{"spec.nodesRef"}, want: "example.com/Widget spec.nodesRef"},
		"Omitted":     {fields: []string{"spec.nodesRef", "status.nodesRef"}, omissions: "example.com/Widget *.nodesRef no nodes"},
		"OtherKind":   {fields: []string{"spec.nodesRef"}, omissions: "example.com/Gadget *.nodesRef no nodes", want: "no field: example.com/Gadget *.nodesRef"},
		"Superfluous": {omissions: "# why\n* spec.gone it was here", want: "no field: * spec.gone"},
	} {
		t.Run(name, func(t *testing.T) {
			known, err := parseOmissions(test.omissions)
			if err != nil {
				t.Fatal(err)
			}
			fields := map[string]bool{}
			for _, field := range test.fields {
				fields[field] = true
			}
			err = printGaps(&strings.Builder{}, rules, map[graph.Kind]map[string]bool{widget: fields}, known)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestOmissions(t *testing.T) {
	if _, err := parseOmissions(omissionsText); err != nil {
		t.Error(err)
	}
	if _, err := parseOmissions("core/Pod spec.x"); err == nil {
		t.Error("an omission without a reason was accepted")
	}
}
