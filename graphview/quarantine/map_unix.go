//go:build unix

package quarantine

import (
	"os"
	"syscall"
)

// mapFile maps a file into memory. The kernel keeps writes to the mapping even if the process
// is killed.
func mapFile(path string, size int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping stays
	return syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(mapped []byte) error { return syscall.Munmap(mapped) }
