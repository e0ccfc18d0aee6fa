package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// file is a built file, by its name and its SHA-256.
type file struct {
	Name, Digest string
}

// program is a file that Go compiled, with the build information in it.
type program struct {
	file
	info *buildinfo.BuildInfo
}

// digest reads the file at a path.
func digest(path string) (file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(text)
	return file{filepath.Base(path), hex.EncodeToString(sum[:])}, nil
}

// readProgram reads the program at a path.
func readProgram(path string) (program, error) {
	f, err := digest(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, fmt.Errorf("%s: %w", path, err)
	}
	return program{f, info}, nil
}

// writeDocument writes a document to a path.
func writeDocument(path string, document object) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// describePrograms writes, beside the programs at paths, a bill of materials for each and one
// provenance statement.
func describePrograms(paths []string) error {
	if len(paths) == 0 {
		return errors.New("expected programs")
	}
	var b build
	for _, path := range paths {
		p, err := readProgram(path)
		if err != nil {
			return err
		}
		if err := writeDocument(path+".cdx.json", p.materials("")); err != nil {
			return err
		}
		b.Programs = append(b.Programs, p)
	}
	return writeDocument(filepath.Join(filepath.Dir(paths[0]), "provenance.intoto.json"), provenance(b))
}
