package main

import (
	"context"
	"fmt"
	"strings"
)

// makeTags writes which tags make Go modules of this repository have the version.
func (r *release) makeTags(context.Context) error {
	var text strings.Builder
	for _, tag := range []string{r.version} {
		fmt.Fprintf(&text, "git tag %s %s\n", tag, r.commit)
	}
	return r.publish("tags.txt", []byte(text.String()))
}

// makeProvenance writes the statement about all files that are there by now.
func (r *release) makeProvenance(context.Context) error {
	names, err := r.files()
	if err != nil {
		return err
	}
	build := build{Programs: r.programs, Commit: r.commit, Modified: r.modified}
	for _, name := range names {
		file, err := digest(r.path(name))
		if err != nil {
			return err
		}
		build.Subjects = append(build.Subjects, file)
	}
	return writeDocument(r.path("provenance.intoto.json"), provenance(build))
}

// makeChecksums writes what `sha256sum --check` reads.
func (r *release) makeChecksums(context.Context) error {
	names, err := r.files()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range names {
		file, err := digest(r.path(name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", file.Digest, file.Name)
	}
	return r.publish("checksums.txt", []byte(text.String()))
}
