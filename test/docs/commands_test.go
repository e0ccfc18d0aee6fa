package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// within bounds each block; it is no expectation.
const within = 2 * time.Minute

// TestCommands runs every page on its own, in order.
func TestCommands(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	pages = append([]string{filepath.Join(root, "README.md"), filepath.Join(root, "charts", "graphview", "README.md")}, pages...)
	ran := 0
	for _, page := range pages {
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := parse(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			ran += runPage(t, blocks)
		})
	}
	if ran < 20 {
		t.Errorf("%d blocks prove little", ran)
	}
}

// runPage runs a page's blocks with one proxy port, and leaves the installation
// as it was.
func runPage(t *testing.T, blocks []block) (ran int) {
	t.Helper()
	ports, err := env.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	shell := &shell{port: ports[0]}
	t.Cleanup(shell.end)
	for _, b := range blocks {
		if b.how == no {
			t.Logf("%s is not run: %s", b.name(), b.reason)
			continue
		}
		if missing := b.missing(); missing != "" {
			t.Logf("%s is not run: there is no %s here", b.name(), missing)
			continue
		}
		ran++
		if err := shell.try(t, &b); err != nil {
			t.Errorf("%s: %v", b.name(), err)
		}
		if !strings.Contains(b.script, "apply") && !strings.Contains(b.script, "delete") {
			continue
		}
		restore(t)
	}
	return ran
}

// restore applies the manifests of the installation again, and waits until the API server serves graphs.
func restore(t *testing.T) {
	t.Helper()
	const service = "apiservice/v1alpha1.stream.graphview.dev"
	// A condition of before the block could be taken for one of after it.
	port := fixture.Kubectl(t, cluster, "get", service, "--ignore-not-found", "-o", "jsonpath={.spec.service.port}")
	if port != "" && port != fmt.Sprint(operator.Stream) {
		fixture.Kubectl(t, cluster, "wait", "--for=condition=Available=False", service, fixture.Timeout())
	}
	if err := operator.Apply(t.Context(), manifests); err != nil {
		t.Fatal(err)
	}
	if err := cluster.AwaitAPIService(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// shell runs scripts, and keeps what they left in the background until it ends.
type shell struct {
	port  int
	left  []*exec.Cmd
	setup string // exports of earlier blocks
}

func (s *shell) try(t *testing.T, b *block) error {
	t.Helper()
	if b.how == streams {
		for _, command := range b.commands() {
			if strings.HasSuffix(command, "&") {
				if err := s.background(command); err != nil {
					return err
				}
				continue
			}
			if err := s.stream(t, command); err != nil {
				return err
			}
		}
		return nil
	}
	out, err := s.run(t, s.setup+b.script)
	for _, command := range b.commands() {
		if strings.HasPrefix(command, "export ") {
			s.setup += command + "\n"
		}
	}
	switch {
	case b.how == fails && err == nil:
		return fmt.Errorf("it did not fail: %s", out)
	case b.how == fails:
		if said := words(out); !strings.Contains(said, words(b.printed)) {
			return fmt.Errorf("it said %s, not %s", said, words(b.printed))
		}
		return nil
	case err != nil:
		return fmt.Errorf("%w\n%s", err, out)
	}
	if header, _, _ := strings.Cut(b.printed, "\n"); strings.HasPrefix(header, "NAME") {
		if got, _, _ := strings.Cut(out, "\n"); words(got) != words(header) {
			return fmt.Errorf("the table begins with %q, not %q", words(got), words(header))
		}
	}
	return nil
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// run runs a script to its end.
func (s *shell) run(t *testing.T, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	command := s.command(script)
	var out fixture.Output
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		return out.String(), err
	case <-ctx.Done():
		kill(command)
		<-ended
		return out.String(), errors.New("it does not end")
	}
}

// stream runs a command until it has begun a graph.
func (s *shell) stream(t *testing.T, script string) error {
	t.Helper()
	command := s.command(script)
	var out fixture.Output
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	deadline := time.After(patience.For(within))
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if strings.Contains(out.String(), `"svx"`) {
				kill(command)
				<-ended
				return nil
			}
		case err := <-ended:
			return fmt.Errorf("%s ended before a graph began (%v)\n%s", script, err, out.String()) //nolint:errorlint // it may be nil
		case <-deadline:
			kill(command)
			<-ended
			return fmt.Errorf("%s did not begin a graph: %s", script, out.String())
		}
	}
}

// background starts what goes on beside the blocks that follow, and waits until
// it says that it does.
func (s *shell) background(script string) error {
	command := s.command(strings.TrimSpace(strings.TrimSuffix(script, "&")))
	var out fixture.Output
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		return err
	}
	s.left = append(s.left, command)
	deadline := time.Now().Add(patience.For(within))
	for !strings.Contains(out.String(), "Starting to serve") && !strings.Contains(out.String(), "Forwarding from") {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s has not begun: %s", script, out.String())
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil
}

func (s *shell) end() {
	for _, command := range s.left {
		kill(command)
		_ = command.Wait() // it was killed
	}
}

// command is a shell in a process group of its own.
func (s *shell) command(script string) *exec.Cmd {
	script = strings.ReplaceAll(script, "8001", fmt.Sprint(s.port))
	command := exec.Command("bash", "-euo", "pipefail", "-c", script)
	command.Dir = workplace
	home := filepath.Join(cluster.Dir(), "home")
	command.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+home,
		"KUBECONFIG="+filepath.Join(cluster.Dir(), "kubeconfig"), "KUBECACHEDIR="+filepath.Join(home, "cache"))
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = 5 * time.Second
	return command
}

// kill ends a shell and what it started.
func kill(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
