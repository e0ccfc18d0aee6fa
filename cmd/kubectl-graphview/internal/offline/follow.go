package offline

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is the time for which changes are collected: an editor writes a file in several steps.
const settle = 50 * time.Millisecond

// Follow loads and serves the manifests again whenever their files change, until ctx ends.
func (s *Server) Follow(ctx context.Context, l *Loader, changed func(*Manifests)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("follow changes of files: %w", err)
	}
	defer func() { _ = watcher.Close() }() // it only reads
	timer := time.NewTimer(0)              // files may have changed since the first load
	defer timer.Stop()
	for waiting := true; ; {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-watcher.Errors: // the kernel left events out
			if !open {
				return nil
			}
		case <-watcher.Events:
		case <-timer.C:
			waiting = false
			for _, folder := range l.folders() {
				_ = watcher.Add(folder) // one that is gone has told its parent
			}
			if m := l.Load(); s.Replace(m) || len(m.Faults) > 0 {
				changed(m)
			}
			continue
		}
		if !waiting {
			waiting = true
			timer.Reset(settle)
		}
	}
}

// folders returns the folders of all files that were read, and those where others may appear.
func (l *Loader) folders() []string {
	found := map[string]bool{}
	for path := range l.files {
		found[filepath.Dir(path)] = true
	}
	for _, path := range append(append(append([]string{}, l.o.Paths...), l.o.Kustomizations...), l.o.Schemas...) {
		if path == Stdin {
			continue
		}
		_ = filepath.WalkDir(path, func(at string, entry fs.DirEntry, _ error) error {
			switch {
			case entry == nil: // it is not there any more
			case !entry.IsDir():
				if at == path {
					found[filepath.Dir(at)] = true
				}
			case at != path && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			default:
				found[at] = true
			}
			return nil
		})
	}
	all := make([]string, 0, len(found))
	for folder := range found {
		all = append(all, folder)
	}
	return all
}
