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

// The markers around the table of values in the chart's README.
const (
	valuesBegin = "<!-- values:start, written by make generate -->"
	valuesEnd   = "<!-- values:end -->"
)

// valueSchema has the properties of a value that the table shows.
type valueSchema struct {
	Description string                 `json:"description"`
	Properties  map[string]valueSchema `json:"properties"`
	Enum        []string               `json:"enum"`
}

// valuesTable returns a row for each value that has a default, in order of name. It fails if
// the schema does not describe a value.
func valuesTable(schemaText, defaultsText []byte) string {
	var root valueSchema
	must.Do(json.Unmarshal(schemaText, &root))
	var defaults map[string]any
	must.Do(yaml.Unmarshal(defaultsText, &defaults))
	out := &strings.Builder{}
	out.WriteString("| value | default | meaning |\n|---|---|---|\n")
	valueRows(out, "", &root, defaults)
	return out.String()
}

func valueRows(out *strings.Builder, prefix string, s *valueSchema, defaults map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		described, ok := s.Properties[name]
		if !ok || described.Description == "" {
			must.Do(fmt.Errorf("values.schema.json does not describe %s", prefix+name))
		}
		if below, ok := defaults[name].(map[string]any); ok && len(below) > 0 {
			valueRows(out, prefix+name+".", &described, below)
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
