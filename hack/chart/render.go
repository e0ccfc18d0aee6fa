package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
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
func render(schemaText, defaultsText []byte) (string, error) {
	var root schema
	if err := json.Unmarshal(schemaText, &root); err != nil {
		return "", fmt.Errorf("values.schema.json: %w", err)
	}
	var defaults map[string]any
	if err := yaml.Unmarshal(defaultsText, &defaults); err != nil {
		return "", fmt.Errorf("values.yaml: %w", err)
	}
	out := &strings.Builder{}
	out.WriteString("| value | default | meaning |\n|---|---|---|\n")
	if err := rows(out, "", &root, defaults); err != nil {
		return "", err
	}
	return out.String(), nil
}

func rows(out *strings.Builder, prefix string, s *schema, defaults map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		described, ok := s.Properties[name]
		if !ok || described.Description == "" {
			return fmt.Errorf("values.schema.json does not describe %s", prefix+name)
		}
		if below, ok := defaults[name].(map[string]any); ok && len(below) > 0 {
			if err := rows(out, prefix+name+".", &described, below); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(defaults[name])
		if err != nil {
			return err
		}
		meaning := described.Description
		if len(described.Enum) > 0 {
			meaning += " (`" + strings.Join(described.Enum, "`, `") + "`)"
		}
		fmt.Fprintf(out, "| `%s` | `%s` | %s |\n", prefix+name, text, strings.ReplaceAll(meaning, "|", "\\|"))
	}
	return nil
}

// splice replaces what is between the markers of a page.
func splice(page, table string) (string, error) {
	head, rest, started := strings.Cut(page, startMark)
	_, tail, ended := strings.Cut(rest, endMark)
	if !started || !ended {
		return "", errors.New("the markers are missing: " + startMark + " and " + endMark)
	}
	return head + startMark + "\n\n" + table + "\n" + endMark + tail, nil
}
