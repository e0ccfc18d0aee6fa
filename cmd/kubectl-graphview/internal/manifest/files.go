package manifest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is what a file's name is for standard input.
const Stdin = "-"

// Files are those that names mean: files as they are, of folders what looks like
// manifests, with recursive of the folders below too. Their order is that of the
// names, within a folder by name.
func Files(names []string, recursive bool) ([]string, error) {
	var all []string
	for _, name := range names {
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			return nil, fmt.Errorf("%s: only files and folders are read", name)
		}
		if name == Stdin {
			all = append(all, name)
			continue
		}
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != name && !recursive:
				return fs.SkipDir
			case !entry.IsDir() && (path == name || isManifest(path)):
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
}

// Read reads a file of Files.
func Read(name string, stdin io.Reader) ([]byte, error) {
	if name == Stdin {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}
