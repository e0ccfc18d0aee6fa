package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"graphview.dev/test/must"
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
func digest(path string) file {
	text := must.Get(os.ReadFile(path))
	sum := sha256.Sum256(text)
	return file{filepath.Base(path), hex.EncodeToString(sum[:])}
}

// readProgram reads the program at a path.
func readProgram(path string) program {
	f := digest(path)
	info := must.Get(buildinfo.ReadFile(path))
	return program{f, info}
}

// writeDocument writes a document to a path.
func writeDocument(path string, document object) {
	text := must.Get(json.MarshalIndent(document, "", "  "))
	must.Do(os.WriteFile(path, append(text, '\n'), 0o644))
}

// describePrograms writes, beside the programs at paths, a bill of materials for each and one
// provenance statement.
func describePrograms(paths []string) {
	if len(paths) == 0 {
		must.Do(errors.New("expected programs"))
	}
	var b build
	for _, path := range paths {
		p := readProgram(path)
		writeDocument(path+".cdx.json", p.materials(""))
		b.Programs = append(b.Programs, p)
	}
	writeDocument(filepath.Join(filepath.Dir(paths[0]), "provenance.intoto.json"), provenance(b))
}
