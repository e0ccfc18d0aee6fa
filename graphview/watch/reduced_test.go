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
		for part := range strings.SplitSeq(accept(secrets, watch, true), ",") {
			if !strings.Contains(part, ";as=PartialObjectMetadata") {
				t.Errorf("of Secrets, %s is asked for", part)
			}
		}
		if messageOf(reduced) != nil {
			t.Error("Secrets that are reduced are read in Protobuf, which Options.Reduce does not take")
		}
		if got := accept(reduced, watch, false); got != "application/json" {
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
	m, err := NewManager(Options{Config: s.config(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Acquire(t.Context(), reduced, newRecorder(t).handle); !errors.Is(err, errNoReduce) {
		t.Errorf("without Reduce: %v", err)
	}
}

// TestPanicIsInvalid: a panic while an object is read is that object's trouble, and
// goes with it. Those before and after it are told as ever.
func TestPanicIsInvalid(t *testing.T) {
	s, r := newServer(t), newRecorder(t)
	for _, name := range []string{"a", "b", "c"} {
		s.set(name, object(name, "", ""))
	}
	key := Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Reduced: true}
	acquire(t, start(t, s, r, func(o *Options) {
		o.Reduce = func(raw []byte) []byte {
			if bytes.Contains(raw, []byte(`"name":"b"`)) && !bytes.Contains(raw, []byte("mended")) {
				panic(string(raw))
			}
			return []byte(reducedTo)
		}
	}), key)
	at := r.awaitLine(0, "state synced=true")
	if set, invalid := r.count("set"), r.count("invalid shop/b: internal error at graphview/watch/reduced_test.go:"); set != 2 || invalid != 1 {
		t.Errorf("%d objects set, %d invalid, want 2 and 1: %q", set, invalid, r.lines())
	}
	s.set("b", object("b", `,"labels":{"mended":"yes"}`, ""))
	at = r.awaitLine(at, "invalid shop/b: <nil>")
	r.awaitLine(at, "set b")
}
