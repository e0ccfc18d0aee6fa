package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/must"
)

func TestValuesTable(t *testing.T) {
	const described = `{"properties": {"a": {"description": "first", "properties": {"b": {"description": "which | one", "enum": ["x", "y"]}}}, "c": {"description": "last"}}}`
	var got string
	err := must.Try(func() { got = valuesTable([]byte(described), []byte("c: [1]\na: {b: x}\n")) })
	want := "| value | default | meaning |\n|---|---|---|\n| `a.b` | `\"x\"` | which \\| one (`x`, `y`) |\n| `c` | `[1]` | last |\n"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	for name, defaults := range map[string]string{
		"a value that is not described": "d: 1\n",
		"one of a section":              "a: {d: 1}\n",
		"no YAML":                       "a: {\n",
	} {
		if err := must.Try(func() { valuesTable([]byte(described), []byte(defaults)) }); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
