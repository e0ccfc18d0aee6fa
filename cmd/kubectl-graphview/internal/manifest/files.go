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

// Stdin is the file name that stands for standard input.
const Stdin = "-"

// Files returns the named files, and the manifests in named folders, with
// recursive also in their subfolders. The order is that of names; within a folder it is
// alphabetical.
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
