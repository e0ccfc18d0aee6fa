package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// TestTyped: what people mistype is answered with the command that works, which the test runs. testdata/typed.txt has
// the answers.
func TestTyped(t *testing.T) {
	var tests []struct {
		What  string
		Args  []string
		Works bool // it is no mistake here, though it is elsewhere
	}
	text, err := os.ReadFile("testdata/typed.json")
	if err == nil {
		err = json.Unmarshal(text, &tests)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := shellOf(t, "admin")
	answers := make([]string, len(tests))
	var tried sync.Map // several mistakes have one remedy
	t.Run("all", func(t *testing.T) {
		for i, tt := range tests {
			t.Run(tt.What, func(t *testing.T) {
				t.Parallel()
				stdout, stderr, code := s.run(t, tt.Args...)
				answers[i] = fmt.Sprintf("# %s\n$ kubectl graphview %s\n", tt.What, strings.Join(tt.Args, " "))
				if tt.Works {
					if code != 0 || stdout == "" {
						t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
					}
					answers[i] += "works\n"
					return
				}
				answers[i] += transcript(stdout, stderr, code)
				if code == 0 || !strings.Contains(stderr, "error: ") {
					t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
				}
				if _, try, found := strings.Cut(stderr, "\nTry: "); found {
					if _, before := tried.LoadOrStore(strings.TrimSpace(try), true); !before {
						s.try(t, strings.TrimSpace(try))
					}
				}
			})
		}
	})
	golden(t, "typed", strings.Join(answers, "\n"))
}

// try runs a command of a remedy. It does what it says: it may find problems, and is not wrong.
func (s shell) try(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", "PATH=$(dirname "+cluster.KubectlPath()+"):$PATH; "+line)
	command.Env = s.env
	stdout, stderr, code := fixture.Run(t, command)
	if code > 1 || strings.Contains(stderr, "error: ") || stdout == "" {
		t.Errorf("%s: exit code %d\n%s%s", line, code, stdout, stderr)
	}
}
