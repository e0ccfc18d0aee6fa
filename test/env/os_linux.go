package env

import (
	"os"
	"syscall"
)

// childAttributes makes the kernel kill the child when the thread that created it
// ends, and keeps the child out of the terminal's process group: after Ctrl-C the
// parent stops its children in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// lock locks the file until the end of this process, and reports whether it
// was free.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
