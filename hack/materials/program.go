package materials

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// File is something that was built, by its name and its SHA-256.
type File struct {
	Name, Digest string
}

// Program is a file that Go compiled, with what Go says of it.
type Program struct {
	File
	info *buildinfo.BuildInfo
}

// Digest reads the file at a path.
func Digest(path string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	sum := sha256.Sum256(text)
	return File{filepath.Base(path), hex.EncodeToString(sum[:])}, nil
}

// Read reads the program at a path.
func Read(path string) (Program, error) {
	file, err := Digest(path)
	if err != nil {
		return Program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Program{}, fmt.Errorf("%s: %w", path, err)
	}
	return Program{file, info}, nil
}

// Write writes a document to a path.
func Write(path string, document Object) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
