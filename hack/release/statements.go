package main

import (
	"context"
	"fmt"
	"strings"
)

// makeTags writes the names of the tags that give the version to the Go modules of this repository.
func (r *release) makeTags(context.Context) {
	var text strings.Builder
	for _, tag := range []string{r.version} {
		fmt.Fprintf(&text, "git tag %s %s\n", tag, r.commit)
	}
	r.publish("tags.txt", []byte(text.String()))
}

// makeProvenance writes the provenance statement about all files of the release so far.
func (r *release) makeProvenance(context.Context) {
	names := r.files()
	build := build{Programs: r.programs, Commit: r.commit, Modified: r.modified}
	for _, name := range names {
		file := digest(r.path(name))
		build.Subjects = append(build.Subjects, file)
	}
	writeDocument(r.path("provenance.intoto.json"), provenance(build))
}

// makeChecksums writes the checksums in the format of `sha256sum --check`.
func (r *release) makeChecksums(context.Context) {
	names := r.files()
	var text strings.Builder
	for _, name := range names {
		file := digest(r.path(name))
		fmt.Fprintf(&text, "%s  %s\n", file.Digest, file.Name)
	}
	r.publish("checksums.txt", []byte(text.String()))
}
