//go:build unix

package quarantine

import (
	"os"
	"syscall"
)

// mapFile maps a file so that what is written to memory is in the file, whatever
// becomes of the process.
func mapFile(path string, size int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping stays
	return syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(mapped []byte) error { return syscall.Munmap(mapped) }
