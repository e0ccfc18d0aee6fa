package env

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const dirPrefix = "graphview-env-"

// workDir is the directory of keys, data and logs of one control plane.
type workDir struct {
	path string
	lock *os.File // held while this process lives; nil in a directory that was given
}

func (d *workDir) join(elements ...string) string {
	return filepath.Join(append([]string{d.path}, elements...)...)
}

// openDir uses the given directory, or creates a temporary one and removes the temporary directories
// of processes that were killed.
func openDir(given string) (*workDir, error) {
	d := &workDir{}
	if given != "" {
		path, err := filepath.Abs(given)
		if err != nil {
			return nil, fmt.Errorf("control plane's directory: %w", err)
		}
		d.path = path
	} else {
		sweep(os.TempDir())
		path, err := os.MkdirTemp("", dirPrefix)
		if err != nil {
			return nil, fmt.Errorf("control plane's directory: %w", err)
		}
		d.path = path
		if d.lock, err = os.Create(filepath.Join(path, "lock")); err != nil {
			return nil, fmt.Errorf("control plane's directory: %w", err)
		}
		lock(d.lock) // on a system without locks no directory is swept
	}
	for _, name := range []string{"pki", "logs", "etcd", "home"} {
		if err := os.MkdirAll(d.join(name), 0o700); err != nil {
			return nil, fmt.Errorf("control plane's directory: %w", err)
		}
	}
	return d, nil
}

// close removes a temporary directory and keeps a given one.
func (d *workDir) close() error {
	if d.lock == nil {
		return nil
	}
	err := os.RemoveAll(d.path)
	_ = d.lock.Close()
	return err
}

// sweep removes the temporary directories that no living process has locked. It keeps new
// ones, whose process may be about to lock them.
func sweep(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*", "lock"))
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		if lock(file) {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = file.Close()
	}
}
