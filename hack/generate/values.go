package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"graphview.dev/test/must"
)

const (
	startMark = "<!-- values:start, written by make generate -->"
	endMark   = "<!-- values:end -->"
)

// schema is as much of a JSON schema as a table of values needs.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Enum        []string          `json:"enum"`
}

// render writes a row for each value that has a default, in order of name, and
// fails where one is not described.
func render(schemaText, defaultsText []byte) string {
	var root schema
	must.Do(json.Unmarshal(schemaText, &root))
	var defaults map[string]any
	must.Do(yaml.Unmarshal(defaultsText, &defaults))
	out := &strings.Builder{}
	out.WriteString("| value | default | meaning |\n|---|---|---|\n")
	rows(out, "", &root, defaults)
	return out.String()
}

func rows(out *strings.Builder, prefix string, s *schema, defaults map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		described, ok := s.Properties[name]
		if !ok || described.Description == "" {
			must.Do(fmt.Errorf("values.schema.json does not describe %s", prefix+name))
		}
		if below, ok := defaults[name].(map[string]any); ok && len(below) > 0 {
			rows(out, prefix+name+".", &described, below)
			continue
		}
		text := must.Get(json.Marshal(defaults[name]))
		meaning := described.Description
		if len(described.Enum) > 0 {
			meaning += " (`" + strings.Join(described.Enum, "`, `") + "`)"
		}
		fmt.Fprintf(out, "| `%s` | `%s` | %s |\n", prefix+name, text, strings.ReplaceAll(meaning, "|", "\\|"))
	}
}
