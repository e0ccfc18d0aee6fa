package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
)

// TestLimitsAreDocumented: the table of docs/security.md has every bound that this
// program declares, with its limit and what it counts, and no other.
func TestLimitsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Limits\n")
	if !found {
		t.Fatal("there is no section Limits")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string][]string{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.Contains(cells[0], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		documented[strings.Trim(cells[0], "`")] = cells[1:]
	}
	for _, bound := range budget.All() {
		row := documented[bound.Name()]
		delete(documented, bound.Name())
		limit, what := grouped(bound.Limit()), bound.Counted()
		switch {
		case row == nil:
			t.Errorf("the table lacks a row; say what its owner sees in the last cell:\n| `%s` | %s | %s | |", bound.Name(), limit, what)
		case row[0] != limit || row[1] != what:
			t.Errorf("%s is %s %s, the table says %s %s", bound.Name(), limit, what, row[0], row[1])
		case row[2] == "":
			t.Errorf("the table does not say what the owner of %s sees", bound.Name())
		}
	}
	for name := range documented {
		t.Errorf("the table has %s, which is not declared", name)
	}
}

// grouped writes a number as people read it.
func grouped(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
