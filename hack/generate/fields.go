package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"graphview.dev/test/document"
	"graphview.dev/test/must"
)

// pages are the CustomResourceDefinitions, each with the page that describes its fields.
var pages = []struct{ definition, page string }{
	{"config/crd/bases/graphview.dev_graphviews.yaml", "docs/graphview.md"},
	{"config/crd/bases/graphview.dev_referencerules.yaml", "docs/references.md"},
}

// The markers around the tables of fields in a page.
const (
	fieldsBegin = "<!-- fields:start, written by make generate -->"
	fieldsEnd   = "<!-- fields:end -->"
)

// writeFields writes the tables of fields of all pages.
func writeFields() {
	for _, p := range pages {
		writePage(p.definition, p.page)
	}
}

func writePage(definition, page string) {
	root := must.Get(parse(must.Get(os.ReadFile(definition))))
	must.Do(document.Replace(page, fieldsBegin, fieldsEnd, "\n"+fieldTables(root)+"\n"))
}

// fieldTables describes spec and status: one row per field, and below them the validations
// of several fields.
func fieldTables(root *schema) string {
	var b strings.Builder
	for i, part := range []string{"spec", "status"} {
		field, ok := root.Properties[part]
		if !ok {
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### `%s`\n\n| field | type | bounds | meaning |\n|---|---|---|---|\n", part)
		var rules []string
		walk(&field, part, false, func(path string, s *schema, required bool) {
			if path != part {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", path, typeOf(s), boundsOf(s, required), cell(s.Description))
			}
			rules = append(rules, rulesOf(s, path)...)
		})
		if len(rules) > 0 {
			fmt.Fprintf(&b, "\nRules:\n\n%s", strings.Join(rules, ""))
		}
	}
	return b.String()
}

// walk visits a field and the fields below it: required ones first, then by name.
func walk(s *schema, path string, required bool, visit func(path string, s *schema, required bool)) {
	visit(path, s, required)
	if s.Items != nil {
		path, s = path+"[]", s.Items
	}
	// Conditions are the same in every Kubernetes API.
	if strings.HasSuffix(path, ".conditions[]") {
		return
	}
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		if first, second := slices.Contains(s.Required, a), slices.Contains(s.Required, b); first != second {
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		below := s.Properties[name]
		walk(&below, path+"."+name, slices.Contains(s.Required, name), visit)
	}
}

func typeOf(s *schema) string {
	if s.Items != nil {
		return "list of " + typeOf(s.Items) + "s"
	}
	return s.Type
}

func boundsOf(s *schema, required bool) string {
	var words []string
	if required {
		words = append(words, "required")
	}
	words = append(words, interval(s.MinItems, s.MaxItems, "items")...)
	if s.ListType == "set" {
		words = append(words, "no duplicates")
	}
	if s.Items != nil && s.Items.Properties == nil {
		for _, word := range valueBounds(s.Items) {
			words = append(words, "each "+word)
		}
	}
	return strings.Join(append(words, valueBounds(s)...), ", ")
}

func valueBounds(s *schema) []string {
	words := interval(s.MinLength, s.MaxLength, "characters")
	if s.Minimum != nil {
		words = append(words, fmt.Sprintf("at least %d", *s.Minimum))
	}
	if len(s.Enum) > 0 {
		words = append(words, "one of `"+strings.Join(s.Enum, "`, `")+"`")
	}
	return words
}

func interval(least, most *int64, unit string) []string {
	switch {
	case least != nil && most != nil:
		return []string{fmt.Sprintf("%d to %d %s", *least, *most, unit)}
	case most != nil:
		return []string{fmt.Sprintf("at most %d %s", *most, unit)}
	case least != nil:
		return []string{fmt.Sprintf("at least %d %s", *least, unit)}
	}
	return nil
}

// rulesOf lists the validations of a field and of its items.
func rulesOf(s *schema, path string) []string {
	var rules []string
	for _, v := range s.Validations {
		rules = append(rules, fmt.Sprintf("- %#q: %s\n", path, oneLine(v.Message)))
	}
	if s.Items != nil {
		rules = append(rules, rulesOf(s.Items, path+"[]")...)
	}
	return rules
}

// cell escapes a text for a table.
func cell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
