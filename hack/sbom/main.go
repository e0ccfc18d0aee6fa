package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/hack/materials"
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
		return errors.New("usage: sbom PROGRAM [PROGRAM]")
	}
	var build materials.Build
	for _, path := range paths {
		p, err := materials.Read(path)
		if err != nil {
			return err
		}
		if err := materials.Write(path+".cdx.json", p.Materials("")); err != nil {
			return err
		}
		build.Programs = append(build.Programs, p)
	}
	return materials.Write(filepath.Join(filepath.Dir(paths[0]), "provenance.intoto.json"), materials.Provenance(build))
}
