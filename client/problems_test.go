package client

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestProblems: the Go client groups problems as the table says, which the page can read too.
func TestProblems(t *testing.T) {
	text, err := os.ReadFile("testdata/problems.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests map[string]struct {
		Message Message
		Now     int64
		Want    []Problem
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var g Graph
			g.Apply(&tt.Message)
			if diff := cmp.Diff(tt.Want, g.Problems(time.Unix(tt.Now, 0)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
