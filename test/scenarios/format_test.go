package scenarios

import (
	"strings"
	"testing"
)

// TestScenarioMistakes: a scenario that would show nothing is refused.
func TestScenarioMistakes(t *testing.T) {
	tests := map[string]struct {
		text      string
		wantError string
	}{
		"whole":              {text: "Rule.\n-- view.yaml --\nqueries: []\n-- want-0 --\n"},
		"no rule":            {text: "-- view.yaml --\n-- want-0 --\n", wantError: "no rule"},
		"no view":            {text: "Rule.\n-- apply-0.yaml --\n-- want-0 --\n", wantError: "no view"},
		"nothing expected":   {text: "Rule.\n-- view.yaml --\n-- want-0 --\n-- apply-1.yaml --\n", wantError: "step 1 expects nothing"},
		"out of order":       {text: "Rule.\n-- view.yaml --\n-- want-1 --\n-- apply-0.yaml --\n", wantError: "comes after step 1"},
		"misspelt section":   {text: "Rule.\n-- view.yaml --\n-- wants-0 --\n", wantError: `unknown section "wants-0"`},
		"unknown option":     {text: "Rule.\n-- options.yaml --\nlimit: 1\n-- view.yaml --\n-- want-0 --\n", wantError: "options.yaml"},
		"expects but a file": {text: "Rule.\n-- view.yaml --\n-- want-0.yaml --\n", wantError: "unknown section"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseScenario([]byte(tt.text))
			switch {
			case tt.wantError == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.wantError != "" && (err == nil || !strings.Contains(err.Error(), tt.wantError)):
				t.Errorf("error %v, want %q", err, tt.wantError)
			}
		})
	}
}

// TestDiffer: lines are compared in any order, each as often as it occurs; what
// is said of a detail has to be part of it.
func TestDiffer(t *testing.T) {
	warning := line{head: "! W a", detail: "no such key: x", optional: true}
	row := line{head: "pods 0 unsynced", detail: "forbidden"}
	tests := map[string]struct {
		want       string
		got        []line
		wantDiffer bool
	}{
		"nothing":               {want: "# only a comment\n"},
		"any order":             {want: "b\na # why\n", got: []line{{head: "a"}, {head: "b"}}},
		"missing":               {want: "a\n", wantDiffer: true},
		"unexpected":            {want: "", got: []line{{head: "a"}}, wantDiffer: true},
		"twice":                 {want: "a\n", got: []line{{head: "a"}, {head: "a"}}, wantDiffer: true},
		"warning without text":  {want: "! W a\n", got: []line{warning}},
		"warning with part":     {want: "! W a ~ such key\n", got: []line{warning}},
		"warning of other text": {want: "! W a ~ forbidden\n", got: []line{warning}, wantDiffer: true},
		"row with part":         {want: "pods 0 unsynced ~ forbid\n", got: []line{row}},
		"row has more to say":   {want: "pods 0 unsynced\n", got: []line{row}, wantDiffer: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if why := differ(parseLines(tt.want), tt.got); (why != "") != tt.wantDiffer {
				t.Errorf("differ: %q", why)
			}
		})
	}
}
