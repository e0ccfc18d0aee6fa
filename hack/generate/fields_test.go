package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/must"
)

const crd = `
spec:
  versions:
  - served: false
  - served: true
    schema:
      openAPIV3Schema:
        properties:
          metadata: {type: object}
          spec:
            type: object
            required: [parts]
            x-kubernetes-validations: [{message: "give\n  one"}]
            properties:
              kind: {type: string, description: "a|b", enum: [a, b]}
              count: {type: integer, minimum: 0}
              parts:
                type: array
                minItems: 1
                maxItems: 4
                items:
                  type: object
                  x-kubernetes-validations: [{message: be good}]
                  properties:
                    name: {type: string, description: "name\nof it", maxLength: 9}
              words: {type: array, x-kubernetes-list-type: set, items: {type: string, minLength: 1}}
          status:
            type: object
            properties:
              conditions:
                type: array
                description: they are
                items: {type: object, properties: {type: {type: string}}}
`

const wantFields = `### 'spec'

| field | type | bounds | meaning |
|---|---|---|---|
| 'spec.parts' | list of objects | required, 1 to 4 items |  |
| 'spec.parts[].name' | string | at most 9 characters | name of it |
| 'spec.count' | integer | at least 0 |  |
| 'spec.kind' | string | one of 'a', 'b' | a\|b |
| 'spec.words' | list of strings | no duplicates, each at least 1 characters |  |

Rules:

- 'spec': give one
- 'spec.parts[]': be good

### 'status'

| field | type | bounds | meaning |
|---|---|---|---|
| 'status.conditions' | list of objects |  | they are |
`

func TestFieldTables(t *testing.T) {
	root, err := parse([]byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(wantFields, "'", "`"), fieldTables(root)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	tests := map[string]struct{ text, wantError string }{
		"no YAML":        {text: "\t", wantError: "parse: "},
		"nothing served": {text: "spec: {versions: [{served: false}]}", wantError: "no version is served"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parse([]byte(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.wantError) {
				t.Errorf("error %v, want %q", err, tt.wantError)
			}
		})
	}
}

func TestWritePage(t *testing.T) {
	dir := t.TempDir()
	definition, page := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "page.md")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(definition, crd)
	write(page, "before\n"+fieldsBegin+"old"+fieldsEnd+"\nafter\n")
	// The second time there is nothing to change.
	for range 2 {
		if err := must.Try(func() { writePage(definition, page) }); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want := "before\n" + fieldsBegin + "\n\n" + strings.ReplaceAll(wantFields, "'", "`") + "\n" + fieldsEnd + "\nafter\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("page (-want +got):\n%s", diff)
		}
	}
	write(page, "before\n"+fieldsBegin)
	if err := must.Try(func() { writePage(definition, page) }); err == nil {
		t.Error("a page without markers is no error")
	}
}
