package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	c := &clock{laps: []lap{{"`git clone`", 1200 * time.Millisecond}, {"a | b", 12 * time.Second}}}
	const want = "| from here to there | after |\n|---|---|\n| `git clone` | 1.2 s |\n| a \\| b | 12.0 s |\n"
	if diff := cmp.Diff(want, c.table("from here to there")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrite(t *testing.T) {
	for name, test := range map[string]struct {
		document, want string
		wantErr        error
	}{
		"replaced":   {"a\n" + begins + "\nold\n" + ends + "\nb\n", "a\n" + begins + "\n\nnew\n\n" + ends + "\nb\n", nil},
		"no markers": {"a\n", "a\n", errNoPlace},
		"no end":     {begins, begins, errNoPlace},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(path, []byte(test.document), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := write(path, "new\n"); !errors.Is(err, test.wantErr) {
				t.Errorf("error %v, want %v", err, test.wantErr)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What hack/run prints has to be found, and what the environment of a stranger does not
// have has to be gone.
func TestStranger(t *testing.T) {
	for line, want := range map[string]string{
		"  http://127.0.0.1:40123/open/ABC2": "http://127.0.0.1:40123/open/ABC2",
		"  export KUBECONFIG=/tmp/x":         "",
	} {
		if got := address.FindString(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	got := strangers([]string{"PATH=/bin", "MAKEFLAGS=s", "GRAPHVIEW_CONTROL_PLANE=/x", "HOME=/root"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/root"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
