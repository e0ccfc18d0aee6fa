package offline

import (
	"errors"
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

// kustomization has the fields of such a file that name other files and folders.
type kustomization struct {
	Kind            string           `json:"kind"`
	BuildMetadata   []string         `json:"buildMetadata"`
	Resources       []string         `json:"resources"`
	Bases           []string         `json:"bases"`
	Components      []string         `json:"components"`
	Generators      []string         `json:"generators"`
	Transformers    []string         `json:"transformers"`
	Validators      []string         `json:"validators"`
	Configurations  []string         `json:"configurations"`
	CRDs            []string         `json:"crds"`
	StrategicMerges []string         `json:"patchesStrategicMerge"`
	Patches         []pathOrText     `json:"patches"`
	Patches6902     []pathOrText     `json:"patchesJson6902"`
	Replacements    []pathOrText     `json:"replacements"`
	OpenAPI         pathOrText       `json:"openapi"`
	HelmCharts      []map[string]any `json:"helmCharts"`
	ConfigMaps      []generator      `json:"configMapGenerator"`
	Secrets         []generator      `json:"secretGenerator"`
}

// generator has the files of a generated ConfigMap or Secret, as PATH or NAME=PATH.
type generator struct {
	Files []string `json:"files"`
	Envs  []string `json:"envs"`
	Env   string   `json:"env"`
}

type pathOrText struct {
	Path string `json:"path"`
}

// local is the disk for kustomize, which would fetch absent files: every path that a kustomization
// names has to exist.
type local struct {
	filesys.FileSystem

	top     string // the folder that is built
	root    string // the folder that it may read; "" if kustomize decides
	refused error  // why a kustomization is not built
	// left are entries that are left out, where a walk found the kustomization.
	left []string
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
	if f.root != "" {
		content = f.without(filepath.Dir(path), content)
	}
	var k kustomization
	if err := yaml.Unmarshal(content, &k); err != nil {
		return content, nil //nolint:nilerr // kustomize says it better
	}
	for _, entry := range k.entries() {
		if f.refused = f.check(filepath.Dir(path), entry); f.refused != nil {
			return nil, f.refused
		}
	}
	if len(k.HelmCharts) > 0 {
		f.refused = fmt.Errorf("%s: helmCharts are not rendered: use kustomize build --enable-helm, and --from -", path)
		return nil, f.refused
	}
	if filepath.Dir(path) == f.top && len(k.BuildMetadata) == 0 && k.Kind != "Component" {
		content = append(slices.Clone(content), "\nbuildMetadata: [originAnnotations]\n"...)
	}
	return content, nil
}

// without returns a kustomization without its entries that are not on the disk, its charts, and its generators of
// objects, which are programs.
func (f *local) without(folder string, content []byte) []byte {
	var k map[string]any
	if yaml.Unmarshal(content, &k) != nil {
		return content // kustomize says it better
	}
	before := len(f.left)
	for _, member := range []string{"helmCharts", "helmChartInflationGenerator", "generators"} {
		if k[member] != nil {
			delete(k, member)
			f.left = append(f.left, fmt.Sprintf("%s of %s", member, folder))
		}
	}
	f.prune(folder, k)
	if len(f.left) == before {
		return content
	}
	if pruned, err := yaml.Marshal(k); err == nil {
		return pruned
	}
	return content
}

// prune removes the entries of lists that check refuses.
func (f *local) prune(folder string, of map[string]any) {
	absent := func(entry any) bool {
		path, named := entry.(string)
		if at, ok := entry.(map[string]any); ok {
			path, named = at["path"].(string)
		}
		if !named || strings.ContainsAny(path, "\n{") || f.check(folder, path[strings.IndexByte(path, '=')+1:]) == nil {
			return false
		}
		f.left = append(f.left, fmt.Sprintf("%s of %s", path, folder))
		return true
	}
	for _, member := range []string{"resources", "bases", "components", "crds", "configurations", "patchesStrategicMerge", "patches", "patchesJson6902", "files", "envs"} {
		if entries, ok := of[member].([]any); ok {
			of[member] = slices.DeleteFunc(entries, absent)
		}
	}
	for _, member := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range list(of[member]) {
			if of, ok := generator.(map[string]any); ok {
				f.prune(folder, of)
			}
		}
	}
}

func (k *kustomization) entries() []string {
	all := slices.Concat(k.Resources, k.Bases, k.Components, k.Generators, k.Transformers, k.Validators, k.Configurations, k.CRDs, k.StrategicMerges)
	for _, of := range slices.Concat(k.Patches, k.Patches6902, k.Replacements, []pathOrText{k.OpenAPI}) {
		all = append(all, of.Path)
	}
	for _, g := range slices.Concat(k.ConfigMaps, k.Secrets) {
		for _, entry := range slices.Concat(g.Files, g.Envs, []string{g.Env}) {
			all = append(all, entry[strings.IndexByte(entry, '=')+1:])
		}
	}
	return slices.DeleteFunc(all, func(entry string) bool { return entry == "" || strings.ContainsAny(entry, "\n{") })
}

// check returns an error for an entry that is not on the disk. Folders whose name looks like that of a
// host, which kustomize would clone, are refused too.
func (f *local) check(folder, entry string) error {
	path := filepath.Join(folder, entry)
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(entry)), "/")
	host := first != ".." && first != "." && strings.ContainsAny(first, ".:@") && f.IsDir(path)
	if !strings.Contains(entry, "://") && f.Exists(path) && !host {
		return nil
	}
	return fmt.Errorf("%s in %s %w: use kubectl kustomize, and --from -", entry, folder, errElsewhere)
}

// errElsewhere is the error about files that only a network has.
var errElsewhere = errors.New("is not on this machine, and nothing is fetched")

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
		o := &Object{Content: content, source: source.source, at: source.at}
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
		var k kustomization
		for _, name := range kustomizationNames {
			content, err := os.ReadFile(filepath.Join(root, folder, name))
			if err == nil && yaml.Unmarshal(content, &k) == nil {
				break
			}
		}
		components[folder] = k.Kind == "Component"
		for _, entry := range k.entries() {
			named[filepath.ToSlash(filepath.Join(folder, entry))] = true
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
