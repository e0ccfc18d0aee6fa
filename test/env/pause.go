package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// PauseEtcd suspends etcd with its connections, as a disk that hangs
// would, and returns when it is suspended; ResumeEtcd resumes it. The API server
// keeps running, and answers late or not at all. Stop and the end of this process also kill a paused
// etcd, so a caller that does not resume it leaves no process.
func (c *ControlPlane) PauseEtcd(ctx context.Context) error { return c.etcd.pause(ctx) }

// ResumeEtcd resumes etcd. It has no effect on a running etcd.
func (c *ControlPlane) ResumeEtcd() error { return c.etcd.signal(syscall.SIGCONT) }

// PauseAPIServer is PauseEtcd for the API server, which then answers nothing at all.
func (c *ControlPlane) PauseAPIServer(ctx context.Context) error { return c.apiServer.pause(ctx) }

// ResumeAPIServer resumes the API server.
func (c *ControlPlane) ResumeAPIServer() error { return c.apiServer.signal(syscall.SIGCONT) }

func (p *Process) pause(ctx context.Context) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := poll(ctx, func(context.Context) (bool, error, error) {
		last := p.stopped()
		return last == nil, last, nil
	})
	if err != nil {
		return errors.Join(fmt.Errorf("pause %s: %w", p.name, err), p.signal(syscall.SIGCONT))
	}
	return nil
}

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %s to %s: %w", s, p.name, err)
	}
	return nil
}

var errRuns = errors.New("a thread still runs")

// stopped returns nil when each thread of the program has stopped. A thread stops when it
// handles the signal; see proc_pid_stat(5). It returns nil at once on a system without
// /proc.
func (p *Process) stopped() error {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "task", "*", "stat"))
	if err != nil {
		return err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return err
		}
		// The name before the state is in parentheses and may contain parentheses.
		if _, state, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')'):], []byte(" ")); !bytes.HasPrefix(state, []byte("T")) {
			return errRuns
		}
	}
	return nil
}
