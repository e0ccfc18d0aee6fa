package watch

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reducedTo is what TestReduced's objects are reduced to.
const reducedTo = `{"kept":1}`

// TestReduced: of a Secret that is read whole, what it is reduced to is retained
// beside its metadata, and nothing else of it, in no buffer.
func TestReduced(t *testing.T) {
	const canary = "canary-60d1f3"
	for name, text := range map[string]string{
		"compact": `{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"},"data":{"release":"` + canary + `"},"reduced":"` + canary + `","type":"t"}`,
		"loose":   "{ \"metadata\": {\"name\": \"a\"},\n \"data\": {\"release\": \"" + canary + "\"} }",
		"invalid": "{ \"metadata\": {\"name\": \"\"},\n \"data\": {\"release\": \"" + canary + "\"} }",
	} {
		t.Run(name, func(t *testing.T) {
			var seen string
			d := document{reduce: func(object []byte) []byte {
				seen = string(object)
				return []byte(reducedTo)
			}}
			err := d.read([]byte(text), typeMeta{}, true)
			if (err != nil) != (name == "invalid") {
				t.Fatal(err)
			}
			if !strings.Contains(seen, canary) {
				t.Errorf("was given %s to reduce", seen)
			}
			if !strings.HasSuffix(string(d.json), `,"reduced":`+reducedTo+`}`) {
				t.Errorf("retains %s", d.json)
			}
			for what, buffer := range map[string][]byte{"json": d.json, "compact": d.compact} {
				if bytes.Contains(buffer[:cap(buffer)], []byte(canary)) {
					t.Errorf("%s holds content: %q", what, buffer[:cap(buffer)])
				}
			}
		})
	}
}

// TestReducedKeys: only Secrets are reduced, where something reduces them, and
// only then more than metadata is asked for.
func TestReducedKeys(t *testing.T) {
	secrets := Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	reduced := secrets
	reduced.Reduced = true
	for _, watch := range []bool{false, true} {
		if got := accept(secrets, watch); !strings.Contains(got, "as=PartialObjectMetadata") {
			t.Errorf("of Secrets, %s is asked for", got)
		}
		if got := accept(reduced, watch); got != "application/json" {
			t.Errorf("of Secrets that are reduced, %s is asked for", got)
		}
	}
	if secrets.String() == reduced.String() {
		t.Errorf("both keys are called %s", reduced)
	}
	pods := podsKey
	pods.Reduced = true
	if _, err := pods.canonical(); !errors.Is(err, errNotReduced) {
		t.Errorf("pods: %v", err)
	}
	s := newServer(t)
	m, err := NewManager(Options{Config: s.config(t), Handler: newRecorder(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Acquire(t.Context(), reduced); !errors.Is(err, errNoReduce) {
		t.Errorf("without Reduce: %v", err)
	}
}
