package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// StartFilled starts a control plane with the data that an earlier call has saved in dir. If
// there is none, or with fresh, it starts an empty one, calls fill, and saves the data.
func StartFilled(ctx context.Context, o Options, dir string, fresh bool, fill func(context.Context, *ControlPlane) error) (*ControlPlane, error) {
	if fresh {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("remove what was kept: %w", err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		o.Data = dir
		return Start(ctx, o)
	}
	c, err := Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err = fill(ctx, c); err == nil {
		err = os.MkdirAll(filepath.Dir(dir), 0o755)
	}
	if err == nil {
		err = c.SaveData(ctx, dir)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// SaveData copies etcd's data to a directory that does not exist yet, for
// [Options.Data] of a later control plane. etcd is paused during the copy, so the
// copy is as consistent as the data after a crash.
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

// RestoreData replaces etcd's data with the data that SaveData has saved in dir, as an
// administrator restores a backup. The API server and etcd stop and start again,
// and revisions are smaller than before.
func (c *ControlPlane) RestoreData(ctx context.Context, dir string) (err error) {
	c.StopAPIServer()
	c.etcd.Stop()
	data := c.dir.join("etcd")
	if err := os.RemoveAll(data); err != nil {
		return fmt.Errorf("restore etcd's data: %w", err)
	}
	if err := copyData(dir, data); err != nil {
		return fmt.Errorf("restore etcd's data: %w", err)
	}
	if c.etcd, err = c.run(etcd, etcdArgs(c.dir, c.etcdPort, c.peerPort)); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// copyData copies a directory with mode 0700, which etcd requires.
func copyData(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.Chmod(to, 0o700)
}
