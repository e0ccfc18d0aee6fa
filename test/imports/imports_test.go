package imports

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

// TestImports: no file of the repository imports what the linter would refuse.
func TestImports(t *testing.T) {
	rules, err := ReadRules(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) < 15 {
		t.Fatalf("%d rules", len(rules))
	}
	command := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	used := map[*Rule]bool{}
	checked := 0
	for file := range strings.FieldsSeq(string(out)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			if _, missing := filepath.Glob(filepath.Join(root, file)); missing == nil {
				continue // deleted, and not committed yet
			}
			t.Fatal(err)
		}
		checked++
		for _, rule := range rules {
			used[rule] = used[rule] || rule.Refuses(file, rule.Deny[0].Package) != ""
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range rules {
				if why := rule.Refuses(file, imported); why != "" {
					t.Errorf("%s imports %s; %s", file, imported, why)
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("%d files", checked)
	}
	for _, rule := range rules {
		if !used[rule] {
			t.Errorf("rule %s is for no file", rule.name)
		}
	}
}

func TestRefuses(t *testing.T) {
	rule := &Rule{
		name: "leaf", Allow: []string{"a.dev/b", "a.dev/c$"}, Deny: []Denied{{"a.dev", "no"}, {"x.dev/y$", "no"}},
	}
	rule.only = append(rule.only, pattern("**/leaf/*.go"))
	for name, test := range map[string]struct {
		file, imported string
		want           bool
	}{
		"denied":             {"d/leaf/f.go", "a.dev/d", true},
		"at the root":        {"leaf/f.go", "a.dev/d", true},
		"a test":             {"d/leaf/f_test.go", "a.dev/d", false},
		"below":              {"d/leaf/e/f.go", "a.dev/d", false},
		"allowed":            {"d/leaf/f.go", "a.dev/b/e", false},
		"allowed alone":      {"d/leaf/f.go", "a.dev/c", false},
		"not what is below":  {"d/leaf/f.go", "a.dev/c/e", true},
		"denied alone":       {"d/leaf/f.go", "x.dev/y", true},
		"what is below that": {"d/leaf/f.go", "x.dev/y/z", false},
		"something else":     {"d/leaf/f.go", "fmt", false},
	} {
		if got := rule.Refuses(test.file, test.imported) != ""; got != test.want {
			t.Errorf("%s: refused %t", name, got)
		}
	}
}
