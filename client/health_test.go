package client

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHealthAt: the Go and the JavaScript client count objects alike; the latter reads the same cases.
func TestHealthAt(t *testing.T) {
	text, err := os.ReadFile("testdata/health.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests map[string]struct {
		Message Message
		Key     Key
		Now     int64
		Want    [2]string
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var g Graph
			g.Apply(&tt.Message)
			health, why := g.HealthAt(tt.Key, time.Unix(tt.Now, 0))
			if diff := cmp.Diff(tt.Want, [2]string{health, why}); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
		})
	}
}
