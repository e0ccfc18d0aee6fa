package protocol

import (
	"path"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemaName returns the name of a type in the document: its package, with the host of the path
// reversed.
func (t *named) schemaName() string { return schemaNameOf(t.path + "." + t.name) }

func schemaNameOf(ref string) string {
	folder, last := path.Split(ref)
	parts := strings.Split(folder+last, "/")
	host := strings.Split(parts[0], ".")
	slices.Reverse(host)
	rest := slices.DeleteFunc(parts[1:], func(part string) bool { return part == "api" })
	return strings.Join(append(host, rest...), ".")
}

// openAPI returns the schema of a struct.
func (t *named) openAPI() map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.members {
		m := &t.members[i]
		properties[m.name] = openAPIOf(&m.schema)
		if m.required {
			required = append(required, m.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if t.description != "" {
		schema["description"] = t.description
	}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	if kinds[t.name] && strings.Contains(t.path, "/stream/") {
		schema["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": "stream.graphview.dev", "version": "v1alpha1", "kind": t.name}}
	}
	return schema
}

// openAPIOf returns the schema of a member. Bounds that only the API server enforces are left out.
func openAPIOf(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	out := map[string]any{}
	set := func(name string, value any, given bool) {
		if given {
			out[name] = value
		}
	}
	set("description", s.Description, s.Description != "")
	if s.Ref != nil {
		ref := map[string]any{"$ref": "#/components/schemas/" + schemaNameOf(*s.Ref)}
		if s.Description == "" {
			return ref
		}
		out["allOf"] = []any{ref}
		return out
	}
	set("type", s.Type, s.Type != "")
	set("format", s.Format, s.Format != "")
	set("enum", enumOf(s), len(s.Enum) > 0)
	set("minItems", s.MinItems, s.MinItems != nil)
	set("maxItems", s.MaxItems, s.MaxItems != nil)
	set("x-kubernetes-preserve-unknown-fields", true, s.XPreserveUnknownFields != nil)
	switch {
	case s.Type != "array":
	case s.Items == nil:
		out["items"] = map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	default:
		out["items"] = openAPIOf(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out["additionalProperties"] = openAPIOf(s.AdditionalProperties.Schema)
	}
	return out
}

// enumOf returns the values of an enum, as JSON.
func enumOf(s *apiextensionsv1.JSONSchemaProps) []string {
	values := make([]string, 0, len(s.Enum))
	for _, value := range s.Enum {
		values = append(values, strings.Trim(string(value.Raw), `"`))
	}
	return values
}
