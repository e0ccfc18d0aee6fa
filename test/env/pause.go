package env

import (
	"fmt"
	"syscall"
)

// PauseEtcd stops etcd where it is, connections and all, as a disk that hangs
// would; ResumeEtcd lets it go on. The API server goes on too, and answers late
// or not at all. A paused etcd can still be killed, by Stop or by the end of
// this process, so nothing is left behind by a caller that does not come to
// resume it.
func (c *ControlPlane) PauseEtcd() error { return c.etcd.signal(syscall.SIGSTOP) }

// ResumeEtcd is the opposite of PauseEtcd. To resume what is not paused does
// nothing.
func (c *ControlPlane) ResumeEtcd() error { return c.etcd.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %s to %s: %w", s, p.name, err)
	}
	return nil
}
