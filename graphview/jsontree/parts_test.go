package jsontree

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// tree is what Part would have made of a value that was read.
func (v Value) tree(t *testing.T) any {
	t.Helper()
	switch {
	case v.is('{'):
		object := map[string]any{}
		for at, after := v.at+1, int(v.node().after); at < after; {
			node := v.parts.nodes[at]
			object[node.shape.key] = v.Member(node.shape.key).tree(t)
			at = int(node.after)
		}
		return object
	case v.is('['):
		list := []any{}
		for element := range v.Elements {
			list = append(list, element.tree(t))
		}
		return list
	case v.is('"'):
		text, ok := v.Text()
		if !ok {
			t.Error("a string has no text")
		}
		return string(text)
	case v.is('t'):
		return v.IsTrue()
	case v.is('f'):
		return v.IsTrue()
	case v.is('n'):
		return nil
	}
	n, ok := v.Int()
	if !ok {
		t.Error("a number is none")
	}
	return n
}

// cut is a tree with numbers as Int has them.
func cut(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			value[key] = cut(below)
		}
	case []any:
		for i, below := range value {
			value[i] = cut(below)
		}
	case float64:
		return int64(value)
	}
	return value
}

// shapesOfParts ask for what overlaps in all ways.
func shapesOfParts() (build, read *Shape) {
	build, read = &Shape{}, &Shape{}
	build.Field("a").Whole()
	build.Field("b").Field("a")
	build.Field("c").Elements().Field("a")
	build.Field("e").Values().Field("a")
	build.Field("f")
	read.Field("a").Field("b").Field("c")
	read.Field("b").Field("b").First(2).Field("a")
	read.Field("c").First(2).Field("b")
	read.Field("d").Field("a")
	read.Field("e").Field("a").Field("b")
	read.Field("f")
	return build, read
}

// checkParts compares both ways to read parts with Part.
func checkParts(t *testing.T, compact []byte) {
	t.Helper()
	build, read := shapesOfParts()
	var beside, alone Parts
	want, wantErr := Part(compact, build)
	got, err := beside.PartAndRead(compact, build, read)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%s: err = %v, want %v", compact, err, wantErr)
	}
	if err := alone.Read(compact, read); err != nil {
		t.Fatal(err)
	}
	wantRead, tooLarge := Part(compact, read) // a number
	if tooLarge == nil {
		if diff := cmp.Diff(cut(wantRead), alone.Object().tree(t)); diff != "" {
			t.Errorf("%s: read alone (-want +got):\n%s", compact, diff)
		}
	}
	if err != nil {
		return
	}
	if tooLarge == nil {
		if diff := cmp.Diff(cut(wantRead), beside.Object().tree(t)); diff != "" {
			t.Errorf("%s: read beside (-want +got):\n%s", compact, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: built (-want +got):\n%s", compact, diff)
	}
	if beside.Reset(); len(want) > 0 && len(got) > 0 {
		t.Errorf("%s: Reset leaves %v", compact, got)
	}
	if again, err := beside.PartAndRead(compact, build, read); err != nil || !cmp.Equal(want, again) {
		t.Errorf("%s: built after Reset: %v, %v", compact, again, err)
	}
}

var objectsWithParts = map[string]string{
	"empty":        `{}`,
	"nothing":      `{"x":{"a":[1,"]}"]},"y":1e999}`,
	"all":          `{"a":{"b":{"c":"x"},"d":1.5},"b":{"a":true,"b":[{"a":1},{"a":2},{"a":3}]},"c":[{"a":1,"b":2},3,{"b":"\u00e9"}],"d":{"a":null},"e":{"a":{"a":1,"b":-2.5}},"f":"text"}`,
	"other types":  `{"a":[],"b":7,"c":{"a":1},"d":"x","e":[1,2],"f":{"a":1}}`,
	"twice":        `{"a":{"b":{"c":1}},"a":{"b":{"c":2},"b":{}},"b":{"b":[{"a":1,"a":2}]},"d":{"a":1},"d":{},"f":1,"f":"x"}`,
	"escaped name": `{"\u0061":{"b":{"\u0063":"\""}},"f":"a\\b"}`,
	"too large":    `{"f":1e999}`,
	"large below":  `{"b":{"b":[{"a":1e999}]}}`,
	"large, cut":   `{"b":{"b":[1,2,{"a":1e999}]}}`,
}

func TestParts(t *testing.T) {
	for name, text := range objectsWithParts {
		t.Run(name, func(t *testing.T) { checkParts(t, []byte(text)) })
	}
	many := `{"0":{}`
	for i := range 1000 {
		many += fmt.Sprintf(`,"%d":{"a":%d}`, i+1, i)
	}
	var p Parts
	for _, text := range []string{many + "}", `{}`, `{"a":{"b":"c"}}`, many + "}"} {
		want, _ := Whole([]byte(text))
		if got, err := p.PartAndRead([]byte(text), whole, &Shape{}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%.40s: %v, %v", text, got, err)
		}
	}
	if most := 1002; len(p.objects) > most {
		t.Errorf("%d objects are kept, and no text has more than %d", len(p.objects), most)
	}
	if p.Reset(); len(p.objects) > keptObjects {
		t.Errorf("%d objects are kept after Reset", len(p.objects))
	}
	if _, err := new(Parts).PartAndRead([]byte(`[]`), whole, &Shape{}); err == nil {
		t.Error("a list is no object")
	}
}

func FuzzParts(f *testing.F) {
	for _, text := range objectsWithParts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(bytes.Clone(raw))
		if !utf8.Valid(raw) || value.Compact(jsontext.AllowDuplicateNames(true)) != nil || value.Kind() != '{' {
			return
		}
		checkParts(t, value)
	})
}

// TestPartsAreReused: of an object nothing is left for the next, and reading makes nothing.
func TestPartsAreReused(t *testing.T) {
	shape := &Shape{}
	shape.Field("list").Elements().Field("a")
	var p Parts
	read := func(text string) Value {
		t.Helper()
		if err := p.Read([]byte(text), shape); err != nil {
			t.Fatal(err)
		}
		return p.Object().Member("list")
	}
	if n := read(`{"list":[{"a":1},{},{}]}`).Len(); n != 3 {
		t.Errorf("%d elements, want 3", n)
	}
	if n := read(`{"list":[{}]}`).Len(); n != 1 {
		t.Errorf("%d elements, want 1", n)
	}
	text := []byte(`{"list":[{"a":"x"},{"a":2}]}`)
	if made := testing.AllocsPerRun(100, func() { _ = p.Read(text, shape) }); made != 0 {
		t.Errorf("reading makes %v things, want none", made)
	}
	read(`{"list":[` + strings.Repeat(`{"a":1},`, kept) + `{}]}`)
	if p.Reset(); cap(p.nodes) != 0 || p.text != nil {
		t.Errorf("room for %d parts and %d bytes are kept of a large object", cap(p.nodes), len(p.text))
	}
}

// TestParse: JSON from anywhere is read as compact JSON is, and what is no object is refused.
func TestParse(t *testing.T) {
	shape := &Shape{}
	shape.Field("a", "b").First(3).Field("c")
	shape.Field("a", "d")
	v, err := Parse([]byte(` { "a" : { "b" : [ {"c": 1}, 2, {"c": 3}, {"c": 4} ], "d" : true } } `), shape)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for element := range v.At("a", "b").Objects {
		n, _ := element.At("c").Int()
		numbers = append(numbers, n)
	}
	if diff := cmp.Diff([]int64{1, 3}, numbers); diff != "" {
		t.Errorf("objects of the list (-want +got):\n%s", diff)
	}
	if n := v.At("a", "b").Len(); n != 3 {
		t.Errorf("%d elements were read, want 3", n)
	}
	if !v.At("a", "d").IsTrue() || v.At("a", "x", "d").Exists() {
		t.Error("a path leads elsewhere")
	}
	for _, text := range []string{``, `[]`, `{"a":`} {
		if _, err := Parse([]byte(text), shape); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
