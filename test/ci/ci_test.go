package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCI runs .ci/run with a make that only records its targets, and fails for one of them.
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
	for _, status := range []string{"1", "2", "124"} { // 124: a command that timed out
		for i, target := range want {
			t.Run(target+" exits with "+status, func(t *testing.T) {
				dir := t.TempDir()
				log := filepath.Join(dir, "targets")
				script := "#!/bin/sh\necho \"$1\" >>'" + log + "'\n[ \"$1\" != " + target + " ] || exit " + status + "\n"
				if err := os.WriteFile(filepath.Join(dir, "make"), []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
				command := exec.CommandContext(t.Context(), filepath.Join(root, ".ci", "run"))
				command.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
				if err := command.Run(); err == nil {
					t.Errorf(".ci/run passes although make %s fails", target)
				}
				ran, err := os.ReadFile(log)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want[:i+1], strings.Fields(string(ran))); diff != "" {
					t.Errorf("targets (-want +got):\n%s", diff)
				}
			})
		}
	}
}
