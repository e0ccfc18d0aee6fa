package env

import (
	"os"
	"syscall"
)

// childAttributes has the kernel kill the child when the thread that created it
// ends, and keeps the child out of the terminal's process group: on Ctrl-C the
// parent decides, it does not race with children that stop on their own.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// lock takes the file for as long as this process lives, and reports whether it
// was free.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
