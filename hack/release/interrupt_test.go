package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupted: a release that is interrupted while it compiles leaves no file behind, neither its own nor the
// compiler's.
func TestInterrupted(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "release")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, signal := range map[string]os.Signal{"by Ctrl-C": os.Interrupt, "by kill": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			out, temporary := t.TempDir(), t.TempDir()
			release := exec.CommandContext(t.Context(), binary, "-version", "v9.9.9", "-allow-dirty", "-parts", "plugin", "-out", out)
			release.Dir = filepath.Join("..", "..")
			// Nothing is compiled already, so the compiler is still at work.
			release.Env = append(os.Environ(), "TMPDIR="+temporary, "GOCACHE="+t.TempDir())
			stdout, err := release.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := release.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stdout)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "release: plugin for") {
			}
			for {
				if compiling, err := filepath.Glob(filepath.Join(temporary, "*", "go-build*", "b*")); err != nil || len(compiling) > 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := release.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
			}
			if err := release.Wait(); err == nil {
				t.Error("it ended well")
			}
			for _, dir := range []string{out, temporary} {
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("%v are left: %v", left, err)
				}
			}
		})
	}
}
