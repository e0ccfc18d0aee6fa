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
)

// page is the plugin's dashboard of the sample, as the administrator.
type page struct{ command *exec.Cmd }

// openDashboard starts it and prints its address.
func openDashboard(ctx context.Context, plane *env.ControlPlane, root string) (*page, error) {
	command := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl-graphview"), "dashboard", sampleView, "-n", sampleNamespace, "--no-open")
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(plane.Dir(), "kubeconfig"))
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("dashboard: %w (`make run` compiles it)", err)
	}
	p := &page{command}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.stop()
		return nil, errors.New("the dashboard printed no address")
	}
	fmt.Printf(`
The sample changes every few seconds. Ctrl-C stops everything.
Open the page (the address works once, in one browser); what is red is broken:

  %s
`, lines.Text())
	return p, nil
}

// stop ends it and waits for it.
func (p *page) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = p.command.Wait()                          // with whatever it says of its end
}
