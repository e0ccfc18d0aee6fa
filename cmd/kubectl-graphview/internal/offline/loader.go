package offline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// maxContent bounds all files together.
const maxContent = 256 << 20

// Options of a Loader.
type Options struct {
	// Paths are files, folders with their subfolders, and Stdin.
	Paths []string
	// Kustomizations are folders that kustomize builds.
	Kustomizations []string
	// Schemas are files and folders with CustomResourceDefinitions. Other objects in them do not count.
	Schemas []string
	// Namespace is the namespace of objects that name none. "" is "default", which is assumed.
	Namespace string
	Stdin     io.Reader
	// Cluster knows the kinds of the cluster that the manifests are laid over. Nil: there is no cluster.
	Cluster meta.RESTMapper
}

// Loader reads manifests. It remembers files, so that another load parses only changed ones.
type Loader struct {
	o     Options
	stdin *file // nil before it is read
	files map[string]*file
	built map[string][]*Object // the last that kustomize could build, by folder
}

// file has the content and the objects of a file.
type file struct {
	content []byte
	objects []*Object // the last that could be read
	fault   error     // why the content cannot be read
	used    bool      // by the present load
}

// NewLoader returns a Loader, which has read nothing.
func NewLoader(o Options) *Loader {
	return &Loader{o: o, files: map[string]*file{}, built: map[string][]*Object{}}
}

// Load reads everything. The Faults of the result say which files it cannot read.
func (l *Loader) Load() *Manifests {
	m := newManifests(l.o.Namespace, l.o.Cluster)
	for _, f := range l.files {
		f.used = false
	}
	for _, path := range l.o.Paths {
		m.raw = append(m.raw, l.path(m, path)...)
	}
	for _, folder := range l.o.Kustomizations {
		objects, _ := l.kustomize(m, folder, "")
		m.raw = append(m.raw, objects...)
	}
	m.schemas = append(m.schemas, ownDefinitions()...)
	for _, path := range l.o.Schemas {
		for _, o := range l.path(m, path) {
			if text(o.Content, "kind") == "CustomResourceDefinition" {
				m.schemas = append(m.schemas, o)
			}
		}
	}
	for path, f := range l.files {
		if !f.used {
			delete(l.files, path)
		}
	}
	m.resolve()
	return m
}

func (l *Loader) path(m *Manifests, path string) []*Object {
	if path == Stdin {
		return l.standardInput(m)
	}
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		m.fault(fmt.Errorf("%s: only files and folders are read; fetch it, and use --from -", path))
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.fault(fmt.Errorf("%s: no such file or directory; name a file, a folder, or - for standard input", path))
		return nil
	case err != nil:
		m.fault(err)
		return nil
	case info.IsDir():
		return l.folder(m, path)
	default:
		return l.use(m, path, func() ([]byte, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			return limited(f)
		})
	}
}

func (l *Loader) standardInput(m *Manifests) []*Object {
	if l.stdin == nil {
		l.stdin = &file{}
		content, err := limited(io.NopCloser(l.o.Stdin))
		if err != nil {
			l.stdin.fault = fmt.Errorf("<stdin>: %w", err)
		}
		l.parse(l.stdin, "<stdin>", content)
	}
	return m.take("<stdin>", l.stdin)
}

// limited reads a file and closes it.
func limited(f io.ReadCloser) ([]byte, error) {
	defer func() { _ = f.Close() }() // nothing was written
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("larger than %d MB: split it, or leave it out", maxFile>>20)
	}
	return content, err
}

// use returns the objects of a file, which it parses if the content changed.
func (l *Loader) use(m *Manifests, path string, read func() ([]byte, error)) []*Object {
	f := l.files[path]
	if f == nil {
		f = &file{}
		l.files[path] = f
	}
	content, err := read()
	if err != nil {
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			err = of.Err
		}
		f.fault, f.content = &FileError{File: path, Err: err}, nil
	} else if f.content == nil || !bytes.Equal(content, f.content) {
		l.parse(f, path, content)
	}
	f.used = true
	if m.bytes += len(content); m.bytes > maxContent {
		m.fault(&FileError{File: path, Err: fmt.Errorf("the manifests have more than %d MB: name fewer folders", maxContent>>20)})
		return nil
	}
	return m.take(path, f)
}

// parse replaces the objects of a file if all of its documents can be read.
func (l *Loader) parse(f *file, path string, content []byte) {
	if f.content = content; f.fault != nil && content == nil {
		return
	}
	f.fault = nil
	var objects []*Object
	for _, d := range documents(path, content) {
		found, err := d.parse()
		if err != nil {
			f.fault = err
			return
		}
		objects = append(objects, found...)
	}
	f.objects = objects
}

// folder reads the manifests of a folder, and builds the kustomizations in it.
func (l *Loader) folder(m *Manifests, folder string) []*Object {
	root, err := os.OpenRoot(folder)
	if err != nil {
		m.fault(err)
		return nil
	}
	defer func() { _ = root.Close() }()
	tree := contents{l: l, m: m, folder: folder, root: root}
	if err := fs.WalkDir(root.FS(), ".", tree.visit); err != nil {
		m.fault(fmt.Errorf("%s: %w", folder, err))
		return nil
	}
	var all []*Object
	whole := true
	for _, top := range topKustomizations(folder, tree.kustomizations) {
		objects, ok := l.kustomize(m, top, folder)
		all, whole = append(all, objects...), whole && ok
	}
	for _, name := range tree.files {
		if !slices.ContainsFunc(tree.kustomizations, func(of string) bool { return within(of, name) }) {
			all = append(all, l.use(m, filepath.Join(folder, name), func() ([]byte, error) { return tree.read(name) })...)
		} else if !whole {
			m.spare = append(m.spare, tree.spare(name)...)
		}
	}
	return all
}

// spare returns the objects of a file of a kustomization, as far as it can be read.
func (c *contents) spare(name string) (all []*Object) {
	content, err := c.read(name)
	if err != nil {
		return nil
	}
	for _, d := range documents(name, content) {
		if found, err := d.parse(); err == nil {
			all = append(all, found...)
		}
	}
	return all
}

// within reports whether a folder of a root has a file, at any depth.
func within(folder, name string) bool { return folder == "." || strings.HasPrefix(name, folder+"/") }

// contents collects the files of a folder. Nothing outside its root is opened.
type contents struct {
	l      *Loader
	m      *Manifests
	folder string
	root   *os.Root

	files          []string
	kustomizations []string // folders
}

func (c *contents) visit(path string, entry fs.DirEntry, err error) error {
	name := entry.Name()
	switch {
	case err != nil:
		return err
	case entry.IsDir() && path != "." && strings.HasPrefix(name, "."):
		return fs.SkipDir
	case entry.IsDir():
		if _, err := c.root.Lstat(filepath.Join(filepath.Dir(path), "Chart.yaml")); err == nil && name == "templates" {
			c.m.warn("%s: a Helm chart is left out; render it with helm template", filepath.Join(c.folder, filepath.Dir(path)))
			return fs.SkipDir
		}
		return nil
	case isKustomization(name):
		c.kustomizations = append(c.kustomizations, filepath.ToSlash(filepath.Dir(path)))
		return nil
	case strings.HasPrefix(name, "."):
		return nil
	case isOfChart(name):
		of, last := filepath.Split(filepath.Dir(path))
		c.m.charts[last], c.m.charts[filepath.Base(of)] = true, true
		if name == "Chart.yaml" {
			return nil
		}
	}
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
		if f, err := c.root.Open(path); err == nil && slices.Contains(scripts, filepath.Ext(name)) && entry.Type().IsRegular() {
			content, _ := limited(f) // as far as it can be read
			c.m.mention(content)
		}
		return nil
	}
	info, err := c.root.Stat(path)
	switch {
	case err != nil && entry.Type()&fs.ModeSymlink != 0:
		c.m.warn("%s: left out, because it leads out of the folder or to nothing", filepath.Join(c.folder, path))
	case err != nil:
		return err
	case info.Mode().IsRegular():
		c.files = append(c.files, filepath.ToSlash(path))
	}
	return nil
}

// isOfChart reports whether a file describes a chart, or has values for one.
func isOfChart(name string) bool {
	return name == "Chart.yaml" || strings.Contains(name, "values") && filepath.Ext(name) == ".yaml"
}

// scripts are the suffixes of the names of scripts, and of descriptions for people, who make objects by hand.
var scripts = []string{"", ".md", ".sh", ".py", ".tf", ".just"}

var word = regexp.MustCompile(`[a-z0-9][a-z0-9.-]*[a-z0-9]`)

// mention adds the words of a script, a playbook or a description.
func (m *Manifests) mention(content []byte) {
	for _, found := range word.FindAll(content, -1) {
		if !m.mentioned[string(found)] {
			m.mentioned[string(found)] = true
		}
	}
}

// manifestLine is a line of an object, or of a file in JSON that may have one.
var manifestLine = regexp.MustCompile(`(?m)^(['"]?apiVersion['"]?\s*:|\s*\{)`)

// read reads a file. One that is a template, or that cannot be read and does not look like a manifest, is
// left out.
func (c *contents) read(name string) ([]byte, error) {
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := limited(f)
	switch {
	case err != nil:
		return nil, err
	case !manifestLine.Match(content):
		if !isOfChart(filepath.Base(name)) { // values only refer to objects
			c.m.mention(content)
		}
		return []byte{}, nil
	case (bytes.Contains(content, []byte("{{")) || bytes.Contains(content, []byte("{%"))) && !readable(name, content):
		c.m.warn("%s: left out, because it is a template", filepath.Join(c.folder, name))
		return []byte{}, nil
	}
	return content, nil
}

// readable reports whether all documents of a file can be read.
func readable(name string, content []byte) bool {
	return !slices.ContainsFunc(documents(name, content), func(d *document) bool {
		_, err := d.parse()
		return err != nil
	})
}
