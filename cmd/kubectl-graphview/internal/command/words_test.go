package command

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/client"
)

func TestSimilar(t *testing.T) {
	names := []string{"storefront", "storage", "back-office", "web", "wep"}
	for name, want := range map[string][]string{
		"storefrnt": {"storefront"},
		"storag":    {"storage"},
		"wb":        {"web", "wep"},
		"nothing":   nil,
	} {
		if diff := cmp.Diff(want, similar(name, names)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestState(t *testing.T) {
	tests := map[string]struct {
		object  string
		want    string
		wantBad bool
	}{
		"nothing known":    {``, "", false},
		"no status":        {`{"kind":"ConfigMap"}`, "", false},
		"a running pod":    {`{"status":{"phase":"Running"}}`, "Running", false},
		"a waiting pod":    {`{"status":{"phase":"Pending"}}`, "Pending", true},
		"why it waits":     {`{"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"CreateContainerConfigError"}}}]}}`, "CreateContainerConfigError", true},
		"it only begins":   {`{"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]}}`, "Pending", true},
		"going":            {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`, "Terminating", true},
		"replicas":         {`{"spec":{"replicas":3},"status":{"readyReplicas":3}}`, "3/3 ready", false},
		"too few":          {`{"spec":{"replicas":3}}`, "0/3 ready", true},
		"not ready":        {`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"NoSuchThing"}]}}`, "NoSuchThing", true},
		"for no reason":    {`{"status":{"conditions":[{"type":"Available","status":"False"}]}}`, "not Available", true},
		"ready":            {`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Fine"}]}}`, "", false},
		"of other form":    {`{"spec":{"replicas":"many"}}`, "", false},
		"status is a text": {`{"status":"fine"}`, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, bad := state(&client.Vertex{Object: json.RawMessage(test.object)})
			if got != test.want || bad != test.wantBad {
				t.Errorf("%q, %t, want %q, %t", got, bad, test.want, test.wantBad)
			}
		})
	}
}

// Colours are for terminals alone.
func TestPaint(t *testing.T) {
	if got := (paint{}).Bad("x"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := (paint{on: true}).Bad("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := (paint{on: true}).Bad(""); got != "" {
		t.Errorf("%q", got)
	}
}
