package schema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object makes an object with fields that are texts, or what below says of them.
func object(below map[string]*Schema, keys ...string) *Schema {
	for key := range below {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	s := &Schema{Type: "object"}
	for _, key := range keys {
		of := below[key]
		if of == nil {
			of = &Schema{Type: "string"}
		}
		s.Properties = append(s.Properties, Property{Key: key, Schema: of})
	}
	return s
}

func list(of *Schema) *Schema { return &Schema{Type: "array", Items: of} }

func TestShapes(t *testing.T) {
	for name, test := range map[string]struct {
		schema *Schema
		want   []Shape
	}{
		"Nothing":         {nil, nil},
		"Text":            {&Schema{Type: "string"}, nil},
		"PodSpec":         {object(map[string]*Schema{"containers": list(object(nil, "name", "image"))}), []Shape{PodSpec}},
		"OtherContainers": {object(map[string]*Schema{"containers": list(object(nil, "name"))}), nil},
		"Environment":     {object(map[string]*Schema{"env": list(object(nil, "name", "valueFrom"))}), []Shape{Container}},
		"EnvironmentFrom": {object(map[string]*Schema{"envFrom": list(object(nil, "secretRef"))}), []Shape{Container}},
		"Volume":          {object(nil, "configMap", "emptyDir", "secret"), []Shape{Volume}},
		"TwoSources":      {object(nil, "configMap", "secret"), nil},
		"ClaimTemplate":   {object(map[string]*Schema{"spec": object(nil, "storageClassName", "accessModes")}), []Shape{ClaimTemplate}},
		"ClaimSpec":       {object(nil, "storageClassName", "accessModes", "resources"), []Shape{ClaimSpec}},
		"IngressBackend":  {object(map[string]*Schema{"service": object(nil, "name", "port")}, "resource"), []Shape{IngressBackend}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.schema.Shapes()); diff != "" {
				t.Errorf("shapes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeySelector(t *testing.T) {
	for name, test := range map[string]struct {
		schema   *Schema
		wantKind string
		want     bool
	}{
		"Nothing": {nil, "", false},
		"NoKey":   {object(nil, "name"), "", false},
		"Plain":   {object(nil, "name", "key", "optional"), "", true},
		"Secret":  {object(map[string]*Schema{"key": {Type: "string", KeyOf: "Secret"}}, "name", "namespace"), "Secret", true},
		"Further": {object(nil, "name", "key", "format"), "", false},
		"Number":  {object(map[string]*Schema{"key": {Type: "integer"}}, "name"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if kind, ok := test.schema.KeySelector(); ok != test.want || kind != test.wantKind {
				t.Errorf("selects the key of %q, %t, want %q, %t", kind, ok, test.wantKind, test.want)
			}
		})
	}
}
