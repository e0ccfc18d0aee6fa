package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// wholesome fails for what must not be in a document that was taken in.
func wholesome(t *testing.T, d *document, secret bool) {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(d.json))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("taken in, and no JSON: %q: %v", d.json, err)
	}
	metadata, _ := object["metadata"].(map[string]any)
	if _, ok := metadata["managedFields"]; ok {
		t.Errorf("managedFields are in %s", d.json)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, ok := annotations[lastApplied]; ok {
		t.Errorf("the annotation is in %s", d.json)
	}
	if secret && len(object) != 3 {
		t.Errorf("more than metadata is in %s", d.json)
	}
}

// FuzzList reads anything as a list.
func FuzzList(f *testing.F) {
	for _, text := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[{"metadata":{"name":"a","managedFields":[{}]}}]}`,
		`{"items":[{"metadata":{"name":"a"}}],"kind":"SecretList","apiVersion":"v1"}`,
		`{"items":null}`, `{"items":[1,"a",null,{}]}`, `{"items":[`, `[]`, ``, `{"metadata":7,"items":[]}`, "{\"items\":[{\"metadata\":{\"name\":\"\xff\"}}]}",
		`{"apiVersion":"v1","kind":"PodList","items":[{"data":{"a":"b"},"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}]}`,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, secret bool) {
		l := listReader{secret: secret, take: func(d *document, invalid error) error {
			if invalid == nil {
				wholesome(t, d, secret)
			}
			return nil
		}}
		if _, err := l.read(bytes.NewReader(text)); err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}

// FuzzFrames reads anything as the events of a watch.
func FuzzFrames(f *testing.F) {
	for _, text := range []string{
		`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}}`,
		`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}{"type":"ERROR","object":{"kind":"Status","code":410}}`,
		`{"type":"DELETED","object":{}}`, `{"type":"ADDED"}`, `{"type":7,"object":[]}`, `{"object":{},"type":"MODIFIED"}`, "null\n{}", `{"type":"\u0041DDED","object":{"metadata":{}}}`, "",
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, secret bool) {
		read := newFrames(io.NopCloser(bytes.NewReader(text)), func() {}, "1", secret)
		defer read.Close()
		for {
			_, object, err := read.Decode()
			if err != nil {
				if !errors.Is(err, io.EOF) && read.err == nil {
					t.Errorf("failed with %v and does not say so", err)
				}
				return
			}
			if e, ok := object.(*event); ok && e.err == nil && len(e.document.name) > 0 {
				wholesome(t, &e.document, secret)
			}
		}
	})
}
