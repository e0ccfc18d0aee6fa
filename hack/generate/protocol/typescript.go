package protocol

import (
	"bytes"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ownPath is the prefix of the packages whose types a client needs. The Status of Kubernetes is none.
const ownPath = "graphview.dev/"

// typeScript returns the declarations of types.
func typeScript(types []*named) []byte {
	var out bytes.Buffer
	out.WriteString("// The messages of the stream protocol. Written by make generate from api/stream/v1alpha1.\n")
	for _, t := range types {
		if !strings.HasPrefix(t.path, ownPath) {
			continue
		}
		fmt.Fprintf(&out, "\n%sexport interface %s {\n", comment("", t.description), t.name)
		for i := range t.members {
			m := &t.members[i]
			optional := "?"
			if m.required {
				optional = ""
			}
			fmt.Fprintf(&out, "%s  %s%s: %s;\n", comment("  ", m.schema.Description), m.name, optional, typeScriptOf(&m.schema))
		}
		out.WriteString("}\n")
	}
	return out.Bytes()
}

func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + strings.Join(strings.Fields(text), " ") + " */\n"
}

// typeScriptOf returns the type of a value.
func typeScriptOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.Ref != nil && strings.HasPrefix(*s.Ref, ownPath):
		return (*s.Ref)[strings.LastIndex(*s.Ref, ".")+1:]
	case s.Ref != nil:
		return "Record<string, unknown>"
	case len(s.Enum) > 0:
		return `"` + strings.Join(enumOf(s), `" | "`) + `"`
	}
	switch s.Type {
	case "string", "boolean":
		return s.Type
	case "integer", "number":
		return "number"
	case "array":
		if s.Items == nil {
			return "unknown[]"
		}
		element := typeScriptOf(s.Items.Schema)
		if s.MinItems != nil && s.MaxItems != nil && *s.MinItems == *s.MaxItems {
			return "[" + strings.TrimSuffix(strings.Repeat(element+", ", int(*s.MinItems)), ", ") + "]"
		}
		if strings.Contains(element, "|") {
			return "Array<" + element + ">"
		}
		return element + "[]"
	case "object":
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			return "Record<string, " + typeScriptOf(s.AdditionalProperties.Schema) + ">"
		}
		return "Record<string, unknown>"
	default:
		return "unknown"
	}
}
