package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestNoReflectMethod: code that calls methods by name makes the linker keep every exported method of
// the program, which is a third of it.
func TestNoReflectMethod(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags=-s -w -dumpdep",
		"-o", filepath.Join(t.TempDir(), "plugin"), "./cmd/kubectl-graphview")
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as it is released
	_, dependencies, code := fixture.Run(t, command)
	if code != 0 {
		t.Fatal(dependencies)
	}
	for line := range strings.Lines(dependencies) {
		if from, _, _ := strings.Cut(line, " -> "); strings.Contains(from, "<ReflectMethod>") {
			t.Fatalf("%s calls methods by name", from)
		}
	}
}
