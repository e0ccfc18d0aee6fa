package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// page is the plugin's dashboard, as the administrator.
type page struct{ command *exec.Cmd }

// openDashboard starts the dashboard of the sample, with further arguments, and prints its address after a
// text.
func openDashboard(ctx context.Context, plane *env.ControlPlane, root, text string, args ...string) *page {
	args = append([]string{"dashboard", sampleView, "-n", sampleNamespace, "--no-open"}, args...)
	command := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl-graphview"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"))
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	out := must.Get(command.StdoutPipe())
	if err := command.Start(); err != nil {
		must.Do(fmt.Errorf("dashboard: %w (`make run` compiles it)", err))
	}
	p := &page{command}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.stop()
		must.Do(errors.New("the dashboard printed no address"))
	}
	fmt.Printf("\n%s\n\n  %s\n", text, lines.Text())
	return p
}

// stop ends the plugin and waits for it.
func (p *page) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = p.command.Wait()                          // the error is that of the signal
}
