package main

import (
	"strings"
	"testing"

	"graphview.dev/test/must"
)

// TestWatched: row 14 measures a pod as a watch passes it on, without its managedFields.
func TestWatched(t *testing.T) {
	known, err := take([]byte(`{"metadata":{"name":"web-0","namespace":"shop","resourceVersion":"7","annotations":{"a":"b"},"managedFields":[{"manager":"kubelet"}]},` +
		`"spec":{"serviceAccountName":"web","containers":[{"name":"web","envFrom":[{"configMapRef":{"name":"web"}}]}]},"status":{"phase":"Pending"}}`))
	if err != nil {
		t.Fatal(err)
	}
	pod := watched(&known)
	if text := string(pod); strings.Contains(text, "managedFields") || !strings.Contains(text, `"name":"web-0"`) || !strings.Contains(text, `"sequence":"1"`) {
		t.Errorf("the pod is %s", text)
	}
	for name, step := range map[string]func([]byte){"referred": referred, "judged": judged} {
		if err := must.Try(func() { step(pod) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
