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

// PauseEtcd stops etcd where it is, connections and all, as a disk that hangs
// would, and returns when it stands still; ResumeEtcd lets it go on. The API server
// goes on too, and answers late or not at all. A paused etcd can still be killed,
// by Stop or by the end of this process, so nothing is left behind by a caller that
// does not come to resume it.
func (c *ControlPlane) PauseEtcd(ctx context.Context) error { return c.etcd.pause(ctx) }

// ResumeEtcd is the opposite of PauseEtcd. To resume what is not paused does
// nothing.
func (c *ControlPlane) ResumeEtcd() error { return c.etcd.signal(syscall.SIGCONT) }

// PauseAPIServer is PauseEtcd for the API server, which then answers nothing at all.
func (c *ControlPlane) PauseAPIServer(ctx context.Context) error { return c.apiServer.pause(ctx) }

// ResumeAPIServer is the opposite of PauseAPIServer.
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

// stopped is nil once each of the program's threads has stopped, which it does
// when it next gets to see the signal; see proc_pid_stat(5). Where there is no
// /proc nothing is known, and nil.
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
		// The name before the state is in parentheses and may have some itself.
		if _, state, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')'):], []byte(" ")); !bytes.HasPrefix(state, []byte("T")) {
			return errRuns
		}
	}
	return nil
}
