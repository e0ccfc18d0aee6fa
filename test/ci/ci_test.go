package ci

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is that of the repository.
var root = filepath.Join("..", "..")

// run runs a script below a folder with a make that records its arguments, and exits with
// status for those that are failing. It returns the recorded lines, what the script printed, and
// its error.
func run(t *testing.T, folder, failing, status string, environment []string, script ...string) (targets []string, out string, err error) {
	t.Helper()
	folder, err = filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "targets")
	text := "#!/bin/sh\necho \"$*\" >>'" + log + "'\n[ \"$*\" != '" + failing + "' ] || exit " + status + "\n"
	if err := os.WriteFile(filepath.Join(dir, "make"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(folder, filepath.FromSlash(script[0])), script[1:]...)
	// A run for one change says its files, and how long each part may take.
	own := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GRAPHVIEW_CHANGED", "EPISODES", "FUZZTIME"}, name)
	})
	command.Env = append(append(own, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH")), environment...)
	said, err := command.CombinedOutput()
	ran, readErr := os.ReadFile(log)
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	for line := range strings.Lines(string(ran)) {
		targets = append(targets, strings.TrimSpace(line))
	}
	return targets, string(said), err
}

// TestCI fails each target of .ci/run in turn.
func TestCI(t *testing.T) {
	contributing, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile(`A change has to pass ([^,]*(?:,[^,]*)*?), which`).FindStringSubmatch(string(contributing))
	if sentence == nil {
		t.Fatal("CONTRIBUTING.md does not say what a change has to pass")
	}
	var want []string
	for _, target := range regexp.MustCompile("`make ([a-z-]+)`").FindAllStringSubmatch(sentence[1], -1) {
		want = append(want, target[1])
	}
	if len(want) == 0 {
		t.Fatal("the sentence of CONTRIBUTING.md names no target")
	}
	for _, status := range []string{"1", "2", "124"} { // 124: a command that timed out
		for i, target := range want {
			t.Run(target+" exits with "+status, func(t *testing.T) {
				ran, _, err := run(t, root, target, status, []string{"GRAPHVIEW_CHANGED="}, ".ci/run")
				if err == nil {
					t.Errorf(".ci/run passes although make %s fails", target)
				}
				if diff := cmp.Diff(want[:i+1], ran); diff != "" {
					t.Errorf("targets (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestNightly names changed files, and expects the parts that hack/nightly.txt has for them.
func TestNightly(t *testing.T) {
	tests := map[string]struct {
		changed string
		want    []string
	}{
		"nothing":                       {"", nil},
		"a file of no part":             {"README.md", nil},
		"a file in a folder":            {"README.md\nhack/image/layout.go", []string{"test-release", "test-image"}},
		"a file by its name":            {"docs/manifests.md", []string{"test-peers"}},
		"a folder with a longer name":   {"hack/images/layout.go", nil},
		"a file with a longer name":     {"go.model", nil},
		"a file in a folder's subtree":  {"graphview/health/testdata/pod.yaml", []string{"test-peers"}},
		"what takes long":               {"controllers/permit.go", []string{"test-race NIGHTLY_RACE=./test/integration", "products"}},
		"an older version's dependency": {"test/controlplane/v1.34.mod", []string{"test-older OLDER=v1.34"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ran, said, err := run(t, root, "", "1", []string{"GRAPHVIEW_CHANGED=" + test.changed}, "hack/nightly.sh", "--changed")
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if diff := cmp.Diff(test.want, ran); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("a failed part does not keep others from running, and fails the whole", func(t *testing.T) {
		all, _, err := run(t, root, "", "1", nil, "hack/nightly.sh")
		if err != nil || len(all) < 5 {
			t.Fatalf("all parts are %q: %v", all, err)
		}
		ran, said, err := run(t, root, "test-image", "3", nil, "hack/nightly.sh")
		if err == nil {
			t.Error("it passes")
		}
		if diff := cmp.Diff(all, ran); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
		for _, line := range []string{`(?m)^test-image +FAILED +\d+ s  make test-image$`, `(?m)^fuzz +ok +\d+ s  make fuzz$`} {
			if !regexp.MustCompile(line).MatchString(said) {
				t.Errorf("the table has no line %s:\n%s", line, said)
			}
		}
	})
}

// TestChange has git find the change: the last commit, or everything that origin/main lacks.
func TestChange(t *testing.T) {
	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		command.Dir = folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, parts ...string) {
		t.Helper()
		ran, said, err := run(t, folder, "", "1", nil, "hack/nightly.sh", "--changed")
		if err != nil {
			t.Errorf("%s: %v\n%s", when, err, said)
		}
		if diff := cmp.Diff(parts, ran); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", when, diff)
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "hack", "nightly.sh"))
	if err != nil {
		t.Fatal(err)
	}
	write("hack/nightly.sh", string(script))
	write("hack/nightly.txt", "a | make a | a\nb | make b | b\n")
	want("no repository")
	git("init", "-q", "-b", "main")
	write("a/file", "")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	want("no commit before it")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	write("b/file", "")
	git("add", ".")
	git("commit", "-q", "-m", "b")
	write("a/file", "again")
	git("commit", "-q", "-a", "-m", "a again")
	want("two commits beyond origin/main", "a", "b")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	want("nothing beyond origin/main", "a")
}

// TestNightlyTargets: each part is a target of the Makefile.
func TestNightlyTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all, said, err := run(t, root, "", "1", nil, "hack/nightly.sh")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, part := range all {
		target, _, _ := strings.Cut(part, " ")
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
			t.Errorf("hack/nightly.txt has make %s, which the Makefile has not", target)
		}
	}
}

// TestPromises: each test that docs/measured/promises.md names exists.
func TestPromises(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "measured", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "git", "grep", "--untracked", "-hoE", "^func Test[A-Za-z0-9]+", "--", "*_test.go")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		exists[strings.TrimPrefix(strings.TrimSpace(line), "func ")] = true
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 50 {
		t.Errorf("%d tests are named", len(named))
	}
	for _, test := range named {
		if !exists[test[1]] {
			t.Errorf("docs/measured/promises.md names %s, which does not exist", test[1])
		}
	}
}
