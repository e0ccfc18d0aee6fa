package env

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// SaveData copies etcd's data to a directory that does not exist yet, for
// [Options.Data] of a later control plane. etcd stands still meanwhile, and the
// copy is what a crash at that moment would have left.
func (c *ControlPlane) SaveData(ctx context.Context, dir string) (err error) {
	if err := c.PauseEtcd(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.ResumeEtcd()) }()
	unfinished := dir + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("save etcd's data: %w", err)
	}
	if err := copyData(c.dir.join("etcd"), unfinished); err != nil {
		return fmt.Errorf("save etcd's data: %w", err)
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return fmt.Errorf("save etcd's data: %w", err)
	}
	return nil
}

// copyData copies a directory; etcd wants its own to be nobody else's.
func copyData(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.Chmod(to, 0o700)
}
