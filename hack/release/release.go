package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	version, registry, download, out string
	images, plugins, parts           []string
	allowDirty                       bool
}

// release is the release in progress.
type release struct {
	options
	dir, commit string
	modified    bool
	programs    []program
	archives    []archive
	element     []byte // <graph-view> in one file
}

// part is one thing of a release. Parts are made in order.
type part struct {
	name string
	make func(*release, context.Context) error
}

// parts are all of them. The last two are about what the others wrote.
var parts = []part{
	{"image", (*release).makeImage},
	{"chart", (*release).makeChart},
	{"manifests", (*release).makeManifests},
	{"plugin", (*release).makePlugins},
	{"npm", (*release).makePackage},
	{"page", (*release).makePage},
	{"tags", (*release).makeTags},
	{"provenance", (*release).makeProvenance},
	{"checksums", (*release).makeChecksums},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// versions matches semantic versions with a v, without build metadata, which cannot be in the tag of
// an image.
var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// run makes a release, beside the one of the same version if there is one, and then
// in its place.
func run(ctx context.Context, o options) (err error) {
	if !versions.MatchString(o.version) {
		return fmt.Errorf("the version is %q, expected one such as v0.1.0 or v0.1.0-rc.1: make release VERSION=v0.1.0", o.version)
	}
	for _, name := range o.parts {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("there is no part %q, only %s", name, strings.Join(partNames(), ", "))
		}
	}
	r := &release{options: o}
	if err := r.look(ctx); err != nil {
		return err
	}
	// The programs below have their temporary files there, which an interrupted one leaves.
	scratch, err := os.MkdirTemp("", "graphview-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.Setenv("TMPDIR", scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp(o.out, ".release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	if err := os.Chmod(r.dir, 0o755); err != nil {
		return err
	}
	for _, p := range parts {
		if len(o.parts) > 0 && !slices.Contains(o.parts, p.name) {
			continue
		}
		fmt.Println("release:", p.name)
		if err := p.make(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	final := filepath.Join(o.out, o.version)
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	if err := os.Rename(r.dir, final); err != nil {
		return err
	}
	fmt.Println("release:", final)
	return nil
}

// look finds out which commit this is.
func (r *release) look(ctx context.Context) error {
	commit, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	changed, err := output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	r.commit, r.modified = commit, changed != ""
	if r.modified && !r.allowDirty {
		return fmt.Errorf("commit first, or try it with -allow-dirty; these files are not committed:\n%s", changed)
	}
	return nil
}

// plain is the version as Helm and npm write it.
func (r *release) plain() string { return strings.TrimPrefix(r.version, "v") }

func (r *release) path(name string) string { return filepath.Join(r.dir, name) }

// publish writes a file of the release.
func (r *release) publish(name string, content []byte) error {
	return os.WriteFile(r.path(name), content, 0o644)
}

// describe remembers a program, and writes its bill of materials.
func (r *release) describe(path string) error {
	program, err := readProgram(path)
	if err != nil {
		return err
	}
	r.programs = append(r.programs, program)
	return writeDocument(r.path(program.Name+".cdx.json"), program.materials(r.version))
}

// files returns the names of the files that were written so far.
func (r *release) files() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}

// command is a program that is killed with all that it has started when ctx ends.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// output runs a program in the repository and returns what it printed, trimmed.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := command(ctx, name, args...).Output()
	if err != nil {
		var said []byte
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = exit.Stderr
		}
		return "", fmt.Errorf("%s %s: %w\n%s", name, cmp.Or(args...), err, said)
	}
	return strings.TrimSpace(string(out)), nil
}
