package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTestsExist: the table names tests that there are.
func TestTestsExist(t *testing.T) {
	for _, f := range findings {
		for _, test := range f.tests {
			files, err := filepath.Glob(filepath.Join("..", "..", test.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), "\nfunc "+test.name+"(")
			}
			if !found {
				t.Errorf("%s has no %s", test.pkg, test.name)
			}
		}
	}
}

func TestOutcomes(t *testing.T) {
	got := outcomesOf([]byte(`=== RUN   TestA
    a_test.go:1: | TestA/one | 160 MiB | 1.2 s | 41 changes came, p50 4.2ms, p99 9ms, slowest 10.8ms | 72 changes came, p50 7ms, p99 113.6ms, slowest 124ms |
    a_test.go:1: | TestA/two | 150 MiB | 1.3 s | 41 changes came, p50 4.2ms, p99 9ms, slowest 10.8ms | 72 changes came, p50 8ms, p99 9ms, slowest 124ms |
    --- PASS: TestA/one (1.00s)
--- PASS: TestA (2.00s)
--- FAIL: TestB (2.00s)
`))
	if a := got["TestA"]; a != (outcome{"PASS", 160, 2.5, "p50 7ms, p99 113.6ms"}) || got["TestB"].result != "FAIL" {
		t.Errorf("%+v", got)
	}
}

// TestPartialRun: figures of tests that were not run stay.
func TestPartialRun(t *testing.T) {
	before := map[string]outcome{
		"TestExpressions":     {"PASS", 160, 2.5, "p50 7ms, p99 113.6ms"},
		"TestTokenFlood":      {result: "PASS"},
		"TestExportsAtOnce":   {"FAIL", 20, 1, ""},
		"TestCostlyResources": {"PASS", 30, 1, "p50 1ms, p99 2ms"},
	}
	table := tableOf(before)
	got := writtenIn(table)
	if !maps.Equal(got, before) {
		t.Errorf("read %+v, want %+v", got, before)
	}
	if tableOf(got) != table {
		t.Error("what was read makes another table")
	}
	if !strings.Contains(table, "| `TestReleases` | in `make test` |") {
		t.Errorf("a test that was not run has no result:\n%s", table)
	}
}
