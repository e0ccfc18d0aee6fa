package installation

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Version is what the operator that Build compiles says it is.
const Version = "v1.2.3-test"

// Build compiles the operator of the module at root from the tree as it is, with
// the race detector where the caller has it, for a package of tests. The go
// command sees whether there is anything to do.
func Build(ctx context.Context, root, name string) (binary string, err error) {
	binary = filepath.Join(root, "bin", "tests", name, "manager")
	args := []string{"build", "-buildvcs=false", "-ldflags=-X main.version=" + Version, "-o", binary}
	if raceDetector {
		args = append(args, "-race")
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/manager")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return binary, nil
}
