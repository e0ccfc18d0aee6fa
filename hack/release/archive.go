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

// epoch is the modification time of all files in archives. It is npm's, since zip has no times before
// 1980.
var epoch = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// tarball returns entries as a .tar.gz. It has no entries for folders, which the paths of their files imply.
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

// zipped returns entries as a .zip.
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
