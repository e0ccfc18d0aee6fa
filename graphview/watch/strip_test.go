package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"graphview.dev/graphview/jsontree"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		raw     string
		list    typeMeta
		secret  bool
		want    string
		wantErr error
	}{
		"item without kind": {
			raw:  `{"metadata":{"name":"a"},"spec":{}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{}}`,
		},
		"own kind, in any place": {
			raw:  `{"spec":[1,2],"kind":"Widget","metadata":{"name":"a"},"apiVersion":"example.com/v1"}`,
			list: podMeta,
			want: `{"apiVersion":"example.com/v1","kind":"Widget","spec":[1,2],"metadata":{"name":"a"}}`,
		},
		"managedFields first, in the middle, last": {
			raw:  `{"metadata":{"managedFields":[],"name":"a","managedFields":[{"a":"]}"}],"uid":"u","managedFields":null}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}}`,
		},
		"lastApplied among others": {
			raw:  `{"metadata":{"annotations":{"a":"1","` + lastApplied + `":"{}","b":"2"},"name":"a"}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"a":"1","b":"2"},"name":"a"}}`,
		},
		"lastApplied alone": {
			raw:  `{"metadata":{"name":"a","annotations":{"` + lastApplied + `":"{}"},"uid":"u"}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}}`,
		},
		"lastApplied in disguise": {
			raw:  `{"metadata":{"name":"a","annotations":{"\u006bubectl.kubernetes.io/last-applied-configuration":"{}"}}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
		},
		"annotations that are none": {
			raw:  `{"metadata":{"annotations":null,"name":"a"}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":null,"name":"a"}}`,
		},
		"nested managedFields stay": {
			raw:  `{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"managedFields":[]}}}}`,
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"template":{"metadata":{"managedFields":[]}}}}`,
		},
		"white space": {
			raw:  "{ \"metadata\" :\n{ \"name\" : \"a\" , \"managedFields\":[ ] } ,\"n\": -1.5e3 ,\"s\":\" { \\\" \" }",
			list: podMeta,
			want: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"n":-1.5e3,"s":" { \" "}`,
		},
		"secret": {
			raw:    `{"data":{"p":"eA=="},"metadata":{"name":"a","annotations":{"` + lastApplied + `":"x"}},"stringData":{},"kind":"X","apiVersion":"y"}`,
			secret: true,
			want:   `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`,
		},
		"no object":         {raw: `[]`, list: podMeta, wantErr: errNoObject},
		"null":              {raw: `null`, list: podMeta, wantErr: errNoObject},
		"no kind":           {raw: `{"metadata":{"name":"a"}}`, wantErr: errNoKind},
		"kind is no string": {raw: `{"metadata":{"name":"a"},"kind":123,"apiVersion":456}`, wantErr: errNoKind},
		"no metadata":       {raw: `{}`, list: podMeta, wantErr: errName},
		"no name":           {raw: `{"metadata":{}}`, list: podMeta, wantErr: errName},
		"long name":         {raw: `{"metadata":{"name":"` + string(bytes.Repeat([]byte("x"), maxName+1)) + `"}}`, list: podMeta, wantErr: errName},
		"name is no string": {raw: `{"metadata":{"name":1}}`, list: podMeta, wantErr: errMetadata},
		"metadata is none":  {raw: `{"metadata":"x"}`, list: podMeta, wantErr: errMetadata},
		"not UTF-8":         {raw: "{\"metadata\":{\"name\":\"a\"},\"x\":\"\xff\"}", list: podMeta, wantErr: errEncoding},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var d document
			err := d.read([]byte(test.raw), test.list, test.secret)
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("err = %v, want %v", err, test.wantErr)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, string(d.json)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHashIgnoresResourceVersionAlone(t *testing.T) {
	hash := func(raw string) uint64 {
		var d document
		if err := d.read([]byte(raw), podMeta, false); err != nil {
			t.Fatal(err)
		}
		hash, _ := d.hashes()
		return hash
	}
	base := hash(`{"metadata":{"name":"a","resourceVersion":"1","uid":"u"},"spec":{"resourceVersion":"1"}}`)
	same := []string{
		`{"metadata":{"name":"a","resourceVersion":"22","uid":"u"},"spec":{"resourceVersion":"1"}}`,
		`{"metadata":{"name":"a","uid":"u"},"spec":{"resourceVersion":"1"}}`,
		`{"metadata":{"name":"a","resourceVersion":"1","uid":"u","managedFields":[{}]},"spec":{"resourceVersion":"1"}}`,
	}
	for _, raw := range same {
		if hash(raw) != base {
			t.Errorf("differs: %s", raw)
		}
	}
	for _, raw := range []string{
		`{"metadata":{"name":"a","resourceVersion":"1","uid":"u"},"spec":{"resourceVersion":"2"}}`,
		`{"metadata":{"name":"a","resourceVersion":"1","uid":"v"},"spec":{"resourceVersion":"1"}}`,
	} {
		if hash(raw) == base {
			t.Errorf("is the same: %s", raw)
		}
	}
}

// naive is what stripping means, on a tree.
func naive(raw []byte, t typeMeta, secret bool) (map[string]any, bool) {
	var object map[string]any
	if utiljson.Unmarshal(raw, &object) != nil || object == nil {
		return nil, false
	}
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	if kind == "" || apiVersion == "" {
		_ = json.Unmarshal(t.kind, &kind)
		_ = json.Unmarshal(t.apiVersion, &apiVersion)
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name == "" || len(name) > maxName {
		return nil, false
	}
	for _, key := range []string{"namespace", "uid", "resourceVersion"} {
		if _, ok := metadata[key].(string); metadata[key] != nil && !ok {
			return nil, false
		}
	}
	delete(metadata, "managedFields")
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, lastApplied)
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	if secret {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": metadata}, true
	}
	object["apiVersion"], object["kind"] = apiVersion, kind
	return object, true
}

func checkAgainstNaive(t *testing.T, raw []byte, secret bool) {
	t.Helper()
	var d document
	if err := d.read(raw, podMeta, secret); err != nil {
		return
	}
	want, ok := naive(raw, podMeta, secret)
	if !ok {
		t.Fatalf("taken in, though the naive way does not: %s", raw)
	}
	got, err := jsontree.Whole(d.json)
	if err != nil {
		t.Fatalf("tree of %s: %v", d.json, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s\n(-naive +got):\n%s", raw, diff)
	}
	compact := jsontext.Value(slices.Clone(d.json))
	if err := compact.Compact(tolerant...); err != nil || !bytes.Equal(compact, d.json) {
		t.Fatalf("not compact: %s, %v", d.json, err)
	}
	if !bytes.HasPrefix(d.json, []byte(typicalStart)) {
		t.Fatalf("does not start with apiVersion: %s", d.json)
	}
	if metadata := got["metadata"].(map[string]any); metadata["name"] != string(d.name) {
		t.Fatalf("name %q of %s", d.name, d.json)
	}
}

func TestStripLikeNaive(t *testing.T) {
	for i := range 100 {
		checkAgainstNaive(t, []byte(pod(i)), i%2 == 0)
	}
}

func FuzzStrip(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","uid":"u","managedFields":[{"f":{}}],"annotations":{"` + lastApplied + `":"{\"a\":1}"},"resourceVersion":"1"},"spec":{}}`))
	f.Add([]byte(`{"kind":"A\"","apiVersion":"b","metadata":{"name":"\\","annotations":{}},"x":[1,-2.5e7,true,false,null,"\\\""]}`))
	f.Add([]byte("{ \"metadata\" : {\"name\":\"a\"\n} , \"x\" : [ ] }"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(bytes.TrimLeft(raw, " \t\r\n"))
		// Unique names only: a tree merges duplicates, raw JSON keeps them.
		if !value.IsValid() || !utf8.Valid(raw) {
			return
		}
		checkAgainstNaive(t, value, false)
		checkAgainstNaive(t, value, true)
	})
}

// FuzzReadTolerant: whatever jsontext lets through, duplicates and broken
// UTF-8 included, is read or refused, and a Secret has no content.
func FuzzReadTolerant(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a"},"metadata":{"name":"b","name":"c"},"data":"SECRET"}`))
	f.Add([]byte("{\"metadata\":{\"name\":\"\xff\"},\"d\\u0061ta\":\"SECRET\"}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(bytes.TrimLeft(raw, " \t\r\n"))
		if !value.IsValid(tolerant...) {
			return
		}
		var d document
		if d.read(value, podMeta, true) != nil {
			return
		}
		got, err := jsontree.Whole(d.json)
		if err != nil {
			return
		}
		if len(got) != 3 {
			t.Fatalf("a Secret with more than metadata: %s", d.json)
		}
	})
}
