package main

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/bench/load"
)

func TestRecorded(t *testing.T) {
	const pod = `{"metadata":{"name":"p","namespace":"n","resourceVersion":"7","annotations":{"a":"b","sequence":"12"},"managedFields":[{"f:annotations":{}}]},"spec":{}}`
	r, err := take([]byte(pod))
	if err != nil {
		t.Fatal(err)
	}
	var got any
	text := r.appendEvent(nil, 99, 3)
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want := map[string]any{"type": "MODIFIED", "object": map[string]any{
		"kind": "Pod", "apiVersion": "v1", "spec": map[string]any{},
		"metadata": map[string]any{
			"name": "p", "namespace": "n", "resourceVersion": "99", "annotations": map[string]any{"a": "b", "sequence": "3"},
			"managedFields": []any{map[string]any{"f:annotations": map[string]any{}}},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.key != "n/p" {
		t.Errorf("key %q", r.key)
	}
	for name, pod := range map[string]string{
		"no version":     `{"metadata":{"annotations":{"a":"b"}}}`,
		"no annotations": `{"metadata":{"resourceVersion":"7"}}`,
		"empty ones":     `{"metadata":{"resourceVersion":"7","annotations":{}}}`,
	} {
		if _, err := take([]byte(pod)); !errors.Is(err, errOtherPod) {
			t.Errorf("%s: error %v, want errOtherPod", name, err)
		}
	}
}

func TestSequencesOf(t *testing.T) {
	const text = `{"actions":[{"svx":{"vx":{"n":"a"},"j":["12"]}},{"svx":{"vx":{"n":"b"},"j":["x"]}},{"svx":{"vx":{"n":"c"},"j":["7"]}}],"rev":"\"j\":[\""}`
	var got []int
	for n := range load.Numbers([]byte(text), []byte(`"j":["`)) {
		got = append(got, n)
	}
	if diff := cmp.Diff([]int{12, 7}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
