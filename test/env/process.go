package env

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Process is one running program whose output goes to a file.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd

	asked atomic.Bool   // Stop or Terminate was called
	done  chan struct{} // closed when the program has ended
}

// crashes has the programs that have ended by themselves, with the ends of their logs.
var crashes struct {
	mu  sync.Mutex
	all []string
}

// Crashes returns which programs of this process have ended by themselves, and the last lines of their logs.
// A test that waits in vain prints it: the cause is often there.
func Crashes() string {
	crashes.mu.Lock()
	defer crashes.mu.Unlock()
	return strings.Join(crashes.all, "\n")
}

// startProcess starts a program and returns when it runs. Its environment is that of this process, with
// more variables.
func startProcess(name, path, log string, variables, args []string) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	defer out.Close() // the child has its own descriptor

	// Not CommandContext: Stop or the end of this process ends the program.
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), variables...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = childAttributes()
	p := &Process{name: name, log: log, cmd: cmd, done: make(chan struct{})}

	started := make(chan error)
	go func() {
		// The child is tied to this thread, not to this process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // ProcessState has the result
		close(p.done)
		if !p.asked.Load() {
			crashes.mu.Lock()
			crashes.all = append(crashes.all, p.Exited().Error())
			crashes.mu.Unlock()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// Stop kills the program and returns when it has ended. SIGTERM would be slower: a kube-apiserver
// then waits up to a minute for its watches. The data of a test's control plane need no orderly
// end.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	p.asked.Store(true)
	_ = p.cmd.Process.Kill() // the only error is that it has ended already
	<-p.done
}

// Terminate sends SIGTERM to the program and waits until it has stopped. It kills the
// program when the context ends.
func (p *Process) Terminate(ctx context.Context) {
	p.asked.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // the only error is that it has ended already
	select {
	case <-p.done:
	case <-ctx.Done():
		p.Stop()
	}
}

// PID returns the process ID of the program.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode waits until the program has ended and returns its exit code, -1 if a
// signal ended it.
func (p *Process) ExitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// Exited returns an error after the program has ended, and nil while it runs.
func (p *Process) Exited() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended: %s\n%s", p.name, p.cmd.ProcessState, tail(p.log))
	default:
		return nil
	}
}
