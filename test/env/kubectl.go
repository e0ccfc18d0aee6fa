package env

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ShortLived has variables for programs in Go that end soon: without a garbage collection before half a GiB, kubectl
// and Helm take a fifth less processor time.
var ShortLived = []string{"GOGC=off", "GOMEMLIMIT=512MiB"}

// Kubectl runs kubectl as the administrator and returns its standard output; an
// error has its standard error.
func (c *ControlPlane) Kubectl(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.binaries, kubectl), args...)
	// With a separate home kubectl reads neither the user's settings nor a discovery cache
	// of another control plane on this port.
	cmd.Env = slices.Concat(os.Environ(), ShortLived, []string{
		"KUBECONFIG=" + c.dir.join("kubeconfig"), "HOME=" + c.dir.join("home"), "KUBECACHEDIR=" + c.dir.join("home", "cache"),
	})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// KubectlPath returns the path of kubectl, for use in a terminal.
func (c *ControlPlane) KubectlPath() string { return filepath.Join(c.binaries, kubectl) }
