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

	"graphview.dev/test/must"
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

// part is one step of a release. The steps run in order.
type part struct {
	name string
	make func(*release, context.Context)
}

// parts are all steps. The last two read the files of the others.
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

// run builds a release in a folder beside that of an earlier run, and then replaces
// that.
func run(ctx context.Context, o options) {
	if !versions.MatchString(o.version) {
		must.Do(fmt.Errorf("the version is %q, expected one such as v0.1.0 or v0.1.0-rc.1: make release VERSION=v0.1.0", o.version))
	}
	for _, name := range o.parts {
		if !slices.Contains(partNames(), name) {
			must.Do(fmt.Errorf("there is no part %q, only %s", name, strings.Join(partNames(), ", ")))
		}
	}
	r := &release{options: o}
	r.look(ctx)
	// Interrupted programs leave their temporary files in this folder.
	scratch := must.Get(os.MkdirTemp("", "graphview-release-"))
	defer must.End(func() error { return os.RemoveAll(scratch) })
	must.Do(os.Setenv("TMPDIR", scratch))
	must.Do(os.MkdirAll(o.out, 0o755))
	r.dir = must.Get(os.MkdirTemp(o.out, ".release-"))
	defer must.End(func() error { return os.RemoveAll(r.dir) })
	must.Do(os.Chmod(r.dir, 0o755))
	for _, p := range parts {
		if len(o.parts) > 0 && !slices.Contains(o.parts, p.name) {
			continue
		}
		fmt.Println("release:", p.name)
		p.make(r, ctx)
	}
	final := filepath.Join(o.out, o.version)
	must.Do(os.RemoveAll(final))
	must.Do(os.Rename(r.dir, final))
	fmt.Println("release:", final)
}

// look reads the commit of the working tree.
func (r *release) look(ctx context.Context) {
	commit := output(ctx, "git", "rev-parse", "HEAD")
	changed := output(ctx, "git", "status", "--porcelain")
	r.commit, r.modified = commit, changed != ""
	if r.modified && !r.allowDirty {
		must.Do(fmt.Errorf("commit first, or try it with -allow-dirty; these files are not committed:\n%s", changed))
	}
}

// plain returns the version in the form of Helm and npm.
func (r *release) plain() string { return strings.TrimPrefix(r.version, "v") }

func (r *release) path(name string) string { return filepath.Join(r.dir, name) }

// publish writes a file of the release.
func (r *release) publish(name string, content []byte) {
	must.Do(os.WriteFile(r.path(name), content, 0o644))
}

// describe adds a program to the provenance statement, and writes its bill of materials.
func (r *release) describe(path string) {
	program := readProgram(path)
	r.programs = append(r.programs, program)
	writeDocument(r.path(program.Name+".cdx.json"), program.materials(r.version))
}

// files returns the names of the files of the release so far.
func (r *release) files() []string {
	entries := must.Get(os.ReadDir(r.dir))
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// command returns a command that is killed with all its child processes when ctx ends.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// combined runs a program; an error has its output.
func combined(c *exec.Cmd) {
	if text, err := c.CombinedOutput(); err != nil {
		must.Do(fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text))
	}
}

// output runs a program in the repository and returns its output, trimmed.
func output(ctx context.Context, name string, args ...string) string {
	out, err := command(ctx, name, args...).Output()
	if err != nil {
		var said []byte
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = exit.Stderr
		}
		must.Do(fmt.Errorf("%s %s: %w\n%s", name, cmp.Or(args...), err, said))
	}
	return strings.TrimSpace(string(out))
}
