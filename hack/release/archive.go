package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"

	"graphview.dev/test/must"
)

// entry is a file in an archive.
type entry struct {
	name    string
	program bool
	content []byte
}

func (e entry) mode() int64 {
	if e.program {
		return 0o755
	}
	return 0o644
}

// epoch is when everything in an archive was made. npm and zip know no earlier times
// than those of 1980.
var epoch = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// tarball is entries as a .tar.gz. Each folder is implied by what is in it.
func tarball(entries []entry) []byte {
	var out bytes.Buffer
	compressed := must.Get(gzip.NewWriterLevel(&out, gzip.BestCompression))
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode(), Size: int64(len(e.content)), ModTime: epoch, Format: tar.FormatUSTAR}
		must.Do(w.WriteHeader(header))
		must.Get(w.Write(e.content))
	}
	must.Do(w.Close())
	must.Do(compressed.Close())
	return out.Bytes()
}

// zipped is entries as a .zip.
func zipped(entries []entry) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		file := must.Get(w.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}))
		must.Get(file.Write(e.content))
	}
	must.Do(w.Close())
	return out.Bytes()
}
