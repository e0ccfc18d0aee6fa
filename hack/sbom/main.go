package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run describes the programs at paths, beside the first of them.
func run(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("usage: sbom PROGRAM...")
	}
	var programs []program
	for _, path := range paths {
		p, err := read(path)
		if err != nil {
			return err
		}
		if err := write(path+".cdx.json", p.materials()); err != nil {
			return err
		}
		programs = append(programs, p)
	}
	return write(filepath.Join(filepath.Dir(paths[0]), "provenance.intoto.json"), provenance(programs))
}

// program is a file and what Go says of it.
type program struct {
	name, digest string
	info         *buildinfo.BuildInfo
}

func read(path string) (program, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(text)
	return program{name: filepath.Base(path), digest: hex.EncodeToString(sum[:]), info: info}, nil
}

func write(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // it is to be published
}
