package jsontree

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func checkTree(t *testing.T, compact []byte) {
	t.Helper()
	var want map[string]any
	wantErr := utiljson.Unmarshal(compact, &want)
	got, err := Whole(compact)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%s: err = %v, apimachinery says %v", compact, err, wantErr)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s\n(-apimachinery +got):\n%s", compact, diff)
	}
}

func TestTree(t *testing.T) {
	for name, raw := range map[string]string{
		"kinds":    `{"a":{},"b":[],"c":"","d":0,"e":true,"f":false,"g":null,"":{"":[[],{}]}}`,
		"integers": `{"a":9223372036854775807,"b":-9223372036854775808,"c":9223372036854775808,"d":-0}`,
		"floats":   `{"a":1.0,"b":1e3,"c":-2.5E-7,"d":0.1}`,
		"too much": `{"a":1e999}`,
		"strings":  `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","b\n":"\\","c":"\ud800"}`,
	} {
		t.Run(name, func(t *testing.T) { checkTree(t, []byte(raw)) })
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,-0,1e400,"\u0000\\"],"b":{"c":null}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(bytes.Clone(raw))
		if !utf8.Valid(raw) || value.Compact() != nil || value.Kind() != '{' {
			return
		}
		checkTree(t, value)
	})
}

// TestFirst: only the first elements of a long list are decoded, unless the shape asks for all,
// and fields after the list are found.
func TestFirst(t *testing.T) {
	first := func(most int) *Shape {
		shape := &Shape{}
		shape.Field("list").First(most).Field("a")
		shape.Field("after")
		return shape
	}
	joined := func(a, b *Shape) *Shape {
		shape := &Shape{}
		shape.Join(a)
		shape.Join(b)
		return shape
	}
	all := &Shape{}
	all.Field("list").Elements()
	everything := &Shape{}
	everything.Field("list").Whole()
	const text = `{"list":[{"a":"]"},{"b":[1,[2]]},{"a":3}],"after":true}`
	one, two, three := map[string]any{"a": "]"}, map[string]any{}, map[string]any{"a": int64(3)}
	for name, test := range map[string]struct {
		shape *Shape
		want  []any
	}{
		"one":                  {first(1), []any{one}},
		"two":                  {first(2), []any{one, two}},
		"as many as there are": {first(3), []any{one, two, three}},
		"more than there are":  {first(9), []any{one, two, three}},
		"the larger of two":    {joined(first(1), first(2)), []any{one, two}},
		"beside all":           {joined(first(1), all), []any{one, two, three}},
		"all beside it":        {joined(all, first(1)), []any{one, two, three}},
		"beside the whole":     {joined(first(1), everything), []any{one, map[string]any{"b": []any{int64(1), []any{int64(2)}}}, three}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Part([]byte(text), test.shape)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"list": test.want, "after": true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
