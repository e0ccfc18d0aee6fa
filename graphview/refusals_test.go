package graphview

import (
	"testing"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
)

// A refusal is one only while it lasts.
func TestRefusals(t *testing.T) {
	now := time.Now()
	tests := map[string]struct {
		namespace string
		resource  resources.Resource
		state     watch.State
		want      bool
		wantAgain time.Duration
	}{
		"refused for a moment":        {resource: podsResource, state: watch.State{Reason: watch.Forbidden, Since: now.Add(-time.Second)}, wantAgain: 4 * time.Second},
		"refused for longer":          {resource: podsResource, state: watch.State{Reason: watch.Forbidden, Since: now.Add(-time.Minute)}, want: true, wantAgain: time.Hour},
		"granted again":               {resource: podsResource, state: watch.State{Reason: watch.UpToDate, Synced: true}, wantAgain: time.Hour},
		"failing":                     {resource: podsResource, state: watch.State{Reason: watch.Failing, Since: now.Add(-time.Hour)}, wantAgain: time.Hour},
		"refused in one namespace":    {namespace: "a", resource: podsResource, state: watch.State{Reason: watch.Forbidden}, wantAgain: time.Hour},
		"refused and without another": {resource: resources.Resource{Version: "v1", Resource: "nodes", Kind: "Node"}, state: watch.State{Reason: watch.Forbidden}, wantAgain: time.Hour},
	}
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0)})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			of := feedIn(t, e, tt.resource, tt.state)
			n := plan.Need{Resource: tt.resource, Key: watch.Key{Namespace: tt.namespace}}
			taps := tapSet{needed: map[plan.Need]*tap{n: {need: n, lease: intake.Lease{Feed: of}}}}
			refused, again := taps.refused(now)
			if refused[tt.resource] != tt.want || again != tt.wantAgain {
				t.Errorf("refused %t, again in %s", refused[tt.resource], again)
			}
		})
	}
}
