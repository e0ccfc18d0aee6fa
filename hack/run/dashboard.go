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
type page struct {
	command *exec.Cmd
	address string
}

// openDashboard starts it, and says which address a browser is to open.
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
	p := &page{command: command}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.stop()
		return nil, errors.New("the dashboard printed no address")
	}
	p.address = lines.Text()
	p.say()
	return p, nil
}

// say prints the address.
func (p *page) say() {
	fmt.Printf("\nthe dashboard, live, in one click (the address works once, in one browser); what is red is broken:\n\n  %s\n\n", p.address)
}

// stop ends it and waits for it.
func (p *page) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = p.command.Wait()                          // with whatever it says of its end
}
