//go:build !linux

package env

import (
	"os"
	"syscall"
)

// childAttributes returns nil: only Linux ends a child with its parent.
func childAttributes() *syscall.SysProcAttr { return nil }

// lock reports false, so that no directory is swept.
func lock(*os.File) bool { return false }
