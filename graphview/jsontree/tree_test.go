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
