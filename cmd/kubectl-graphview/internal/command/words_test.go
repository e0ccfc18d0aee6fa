package command

import (
	"encoding/json"
	"testing"

	"graphview.dev/client"
)

func TestState(t *testing.T) {
	tests := map[string]struct {
		group, object string
		want          string
		wantBad       bool
	}{
		"nothing known":  {"", ``, "", false},
		"no status":      {"", `{"kind":"ConfigMap"}`, "", false},
		"a running pod":  {"", `{"kind":"Pod","status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"ready":true}]}}`, "1/1 ready", false},
		"a waiting pod":  {"", `{"kind":"Pod","status":{"phase":"Pending"}}`, "Pending", true},
		"why it waits":   {"", `{"kind":"Pod","status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"CreateContainerConfigError"}}}]}}`, "CreateContainerConfigError, 0/1 ready", true},
		"going":          {"", `{"kind":"Pod","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`, "Terminating", true},
		"replicas":       {"apps", `{"kind":"ReplicaSet","spec":{"replicas":3},"status":{"readyReplicas":3,"availableReplicas":3,"fullyLabeledReplicas":3,"replicas":3}}`, "3/3 ready", false},
		"too few":        {"apps", `{"kind":"ReplicaSet","spec":{"replicas":3}}`, "ScalingUp, 0/3 ready", true},
		"suspended":      {"batch", `{"kind":"CronJob","spec":{"suspend":true}}`, "Suspended", false},
		"not ready":      {"example.com", `{"kind":"Widget","status":{"conditions":[{"type":"Ready","status":"False","reason":"SecretNotFound"}]}}`, "SecretNotFound", true},
		"ready":          {"example.com", `{"kind":"Widget","status":{"conditions":[{"type":"Ready","status":"True","reason":"Fine"}]}}`, "Fine", false},
		"of other form":  {"apps", `{"kind":"Deployment","spec":{"replicas":"many"},"status":"fine"}`, "ScalingUp, 0/1 ready", true},
		"text of a kind": {"example.com", `{"kind":"Widget","status":"fine"}`, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, bad := state(&client.Vertex{Key: client.Key{Group: test.group}, Object: json.RawMessage(test.object)})
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
