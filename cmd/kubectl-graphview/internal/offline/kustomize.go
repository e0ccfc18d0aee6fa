package offline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kustomizationNames are the names of the file that kustomize builds a folder by.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func isKustomization(name string) bool { return slices.Contains(kustomizationNames, name) }

// programs are the fields of a kustomization with charts, and with programs that make objects.
var programs = []string{"helmCharts", "helmChartInflationGenerator", "generators"}

// local is the disk for kustomize, which would fetch absent files. Files and folders that are absent, charts,
// and generators of objects are left out.
type local struct {
	filesys.FileSystem

	top     string // the folder that is built
	root    string // the folder that it may read; "" if kustomize decides
	refused error  // why a kustomization is not built
	left    []string
	// objects: objects are left out, and not only patches and the content of some. namespaces are named by
	// kustomizations and their charts.
	objects    bool
	namespaces []string
}

// ReadFile asks for the origin of objects where the top folder's kustomization is read.
func (f *local) ReadFile(path string) ([]byte, error) {
	if resolved, err := filepath.EvalSymlinks(path); f.root != "" && err == nil && !strings.HasPrefix(resolved, f.root+string(filepath.Separator)) {
		f.refused = fmt.Errorf("%s is outside %s", path, f.root)
		return nil, f.refused
	}
	content, err := f.FileSystem.ReadFile(path)
	if err != nil || !isKustomization(filepath.Base(path)) {
		return content, err
	}
	var k map[string]any
	if err := yaml.Unmarshal(content, &k); err != nil {
		return content, nil //nolint:nilerr // kustomize says it better
	}
	before := len(f.left)
	f.leaveOut(filepath.Dir(path), k)
	if left := f.left[before:]; len(left) > 0 {
		if f.root == "" {
			f.refused = fmt.Errorf("%s is not on this machine or is a program, and nothing is fetched and executed: use kubectl kustomize (--enable-helm for charts), and --from -", left[0])
			return nil, f.refused
		}
		if content, err = yaml.Marshal(k); err != nil {
			return nil, err
		}
	}
	if filepath.Dir(path) == f.top && k["buildMetadata"] == nil && text(k, "kind") != "Component" {
		content = append(slices.Clone(content), "\nbuildMetadata: [originAnnotations]\n"...)
	}
	return content, nil
}

// leaveOut removes the programs of a kustomization, and the files and folders that are absent.
func (f *local) leaveOut(folder string, k map[string]any) {
	before := len(f.left)
	f.namespaces = append(f.namespaces, text(k, "namespace"))
	for _, member := range programs {
		for _, chart := range list(k[member]) {
			of, _ := chart.(map[string]any)
			f.namespaces = append(f.namespaces, text(of, "namespace"))
		}
		if k[member] != nil {
			delete(k, member)
			f.objects, f.left = true, append(f.left, fmt.Sprintf("%s of %s", member, folder))
		}
	}
	f.prune(folder, k, "resources", "bases", "components")
	f.objects = f.objects || len(f.left) > before
	f.prune(folder, k, "crds", "configurations", "transformers", "validators", "patchesStrategicMerge", "patches", "patchesJson6902", "replacements", "openapi")
	for _, member := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range list(k[member]) {
			if of, ok := generator.(map[string]any); ok {
				f.prune(folder, of, "files", "envs", "env")
			}
		}
	}
}

// prune removes the files and folders of some fields that are not on the disk.
func (f *local) prune(folder string, of map[string]any, members ...string) {
	absent := func(entry any) bool {
		path, _ := entry.(string)
		if at, ok := entry.(map[string]any); ok {
			path = text(at, "path")
		}
		if path == "" || strings.ContainsAny(path, "\n{") || f.has(folder, path[strings.IndexByte(path, '=')+1:]) {
			return false
		}
		f.left = append(f.left, fmt.Sprintf("%s of %s", path, folder))
		return true
	}
	for _, member := range members {
		if entries, ok := of[member].([]any); ok {
			of[member] = slices.DeleteFunc(entries, absent)
		} else if absent(of[member]) {
			delete(of, member)
		}
	}
}

// has reports whether an entry is on the disk. A folder whose name looks like that of a host is not, since kustomize
// would clone it.
func (f *local) has(folder, entry string) bool {
	path := filepath.Join(folder, entry)
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(entry)), "/")
	host := first != ".." && first != "." && strings.ContainsAny(first, ".:@") && f.IsDir(path)
	return !strings.Contains(entry, "://") && f.Exists(path) && !host
}

// kustomize builds a folder as kubectl does. One that was found by walking a root may be left out, and reads
// all of the root. ok is false if it is left out or cannot be built.
func (l *Loader) kustomize(m *Manifests, folder, root string) (all []*Object, ok bool) {
	top, err := resolved(folder)
	disk, options := &local{FileSystem: filesys.MakeFsOnDisk(), top: top}, krusty.MakeDefaultOptions()
	if err == nil && root != "" {
		disk.root, err = resolved(root)
		options.LoadRestrictions = types.LoadRestrictionsNone
	}
	if err != nil {
		m.fault(err)
		return nil, false
	}
	built, err := krusty.MakeKustomizer(options).Run(disk, top)
	if disk.objects || err != nil {
		for _, namespace := range disk.namespaces {
			m.partial[namespace] = true
		}
	}
	for _, entry := range disk.left {
		m.warn("%s: left out: %s, since nothing is fetched and executed; use kubectl kustomize, and --from -", folder, entry)
	}
	if err != nil && disk.refused != nil {
		err = disk.refused // without the text of later attempts of kustomize
	}
	switch {
	case err == nil:
	case root != "": // its controller may build it in another way
		m.warn("%s: left out, since kustomize cannot build it; try -k: %s", folder, err)
		return nil, false
	default:
		m.fault(&FileError{File: folder, Err: fmt.Errorf("kustomize: %w", err)})
		return l.built[folder], false
	}
	for _, r := range built.Resources() {
		source := l.origin(folder, r)
		_ = r.SetOrigin(nil)
		content, err := r.Map()
		if err != nil {
			m.fault(&FileError{File: folder, Err: err})
			continue
		}
		o := &Object{Content: content, source: source.source, at: source.at, partial: len(disk.left) > 0, beside: disk.objects}
		if err := o.check(); err != nil {
			m.fault(err)
			continue
		}
		all = append(all, o)
	}
	l.built[folder] = all
	return all, len(disk.left) == 0
}

// resolved returns the absolute path of a folder, without symbolic links.
func resolved(folder string) (string, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// origin returns the object of a file that a built one comes from, or one at the beginning of the
// kustomization.
func (l *Loader) origin(folder string, r *resource.Resource) *Object {
	path := filepath.Join(folder, kustomizationNames[0])
	if from, err := r.GetOrigin(); err == nil && from != nil && from.Repo == "" {
		path = filepath.Join(folder, from.Path)
		if from.Path == "" {
			path = filepath.Join(folder, from.ConfiguredIn)
		}
	}
	f := l.files[path]
	if f == nil || !f.used {
		content, err := os.ReadFile(path)
		if err != nil || len(content) > maxFile {
			content = nil
		}
		f = &file{used: true}
		l.parse(f, path, content)
		l.files[path] = f
	}
	for _, o := range f.objects {
		// A kustomization may add to the name.
		if text(o.Content, "kind") == r.GetKind() && strings.Contains(r.GetName(), text(o.metadata(), "name")) {
			return o
		}
	}
	return &Object{source: &document{file: path, line: 1}}
}

// topKustomizations returns those folders of a root that no other kustomization of it names.
func topKustomizations(root string, folders []string) []string {
	named, components := map[string]bool{}, map[string]bool{}
	for _, folder := range folders {
		var k map[string]any
		for _, name := range kustomizationNames {
			content, err := os.ReadFile(filepath.Join(root, folder, name))
			if err == nil && yaml.Unmarshal(content, &k) == nil {
				break
			}
		}
		components[folder] = text(k, "kind") == "Component"
		for _, entry := range slices.Concat(list(k["resources"]), list(k["bases"]), list(k["components"])) {
			if entry, ok := entry.(string); ok {
				named[filepath.ToSlash(filepath.Join(folder, entry))] = true
			}
		}
	}
	var tops []string
	for _, folder := range folders {
		if !named[folder] && !components[folder] {
			tops = append(tops, filepath.Join(root, folder))
		}
	}
	return tops
}
