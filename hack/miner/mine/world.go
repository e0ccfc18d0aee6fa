package mine

import (
	"bytes"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is an object of a manifest.
type Object struct {
	Kind            Kind
	Version         string
	Namespace, Name string
	Labels          map[string]any
	Content         map[string]any
	File            string
}

// World is what one folder holds, taken as what is in one cluster.
type World struct {
	Name    string
	Kinds   *Kinds
	Objects []*Object
	byName  map[string][]*Object
	pods    []*Object // of the templates of workloads
}

// Exists tells whether there is an object.
func (w *World) Exists(kind Kind, namespace, name string) bool {
	for _, o := range w.byName[name] {
		if o.Kind == kind && (o.Namespace == namespace || w.Kinds.all[kind].cluster) {
			return true
		}
	}
	return false
}

const maxManifest = 4 << 20

var (
	between    = regexp.MustCompile(`(?m)^---.*$`)
	isCRD      = regexp.MustCompile(`(?m)^ *"?kind"?: *"?CustomResourceDefinition"?,? *$`)
	templating = regexp.MustCompile(`\{\{|\$\{`)
)

// reader gathers the documents of folders.
type reader struct {
	seed maphash.Seed
	seen map[uint64]bool
	docs []document
}

type document struct {
	file string
	text []byte
	crd  bool
}

// Read reads folders, each as one world. The kinds of all of them are served in each.
func Read(folders ...string) ([]*World, error) {
	kinds := NewKinds()
	readers := make([]*reader, len(folders))
	for i, folder := range folders {
		r := &reader{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
		if err := r.walk(folder); err != nil {
			return nil, err
		}
		readers[i] = r
		r.define(kinds)
	}
	worlds := make([]*World, len(folders))
	for i, r := range readers {
		worlds[i] = &World{Name: filepath.Base(folders[i]), Kinds: kinds, byName: map[string][]*Object{}}
		for _, d := range r.docs {
			if d.crd {
				continue
			}
			for _, content := range parse(d.text) {
				worlds[i].add(content, d.file)
			}
		}
		worlds[i].settle()
	}
	return worlds, nil
}

func (r *reader) walk(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Size() > maxManifest || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		chart := strings.Contains(path, "/templates/")
		for _, doc := range between.Split(string(text), -1) {
			if !strings.Contains(doc, "kind") || chart && templating.MatchString(doc) {
				continue // no manifest, or one that only Helm can make
			}
			sum := maphash.String(r.seed, doc)
			if r.seen[sum] {
				continue
			}
			r.seen[sum] = true
			r.docs = append(r.docs, document{file: path, text: []byte(doc), crd: isCRD.MatchString(doc)})
		}
		return nil
	})
}

var crdName = regexp.MustCompile(`(?m)^  name: *(\S+) *$`)

// define reads the definitions of kinds: of each the longest that there is, since
// others have their descriptions cut off.
func (r *reader) define(kinds *Kinds) {
	longest := map[string][]byte{}
	for _, d := range r.docs {
		if !d.crd {
			continue
		}
		name := "?" + d.file
		if found := crdName.FindSubmatch(d.text); found != nil && bytes.HasPrefix(bytes.TrimSpace(d.text), []byte("apiVersion")) {
			name = string(found[1])
		}
		if len(d.text) > len(longest[name]) {
			longest[name] = d.text
		}
	}
	for _, text := range longest {
		for _, crd := range parse(text) {
			kinds.define(crd)
		}
	}
}

// parse returns the objects of a document: one, those of a list, or none if it is no
// manifest.
func parse(text []byte) []map[string]any {
	var content map[string]any
	if yaml.Unmarshal(text, &content) != nil {
		return nil
	}
	kind, _ := content["kind"].(string)
	if items, ok := content["items"].([]any); ok && strings.HasSuffix(kind, "List") {
		var all []map[string]any
		for _, item := range items {
			if object, ok := item.(map[string]any); ok {
				all = append(all, object)
			}
		}
		return all
	}
	return []map[string]any{content}
}

// add adds an object of a kind that is served. One without a namespace is in the
// namespace default if its kind has namespaces.
func (w *World) add(content map[string]any, file string) {
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	group, version := splitVersion(apiVersion)
	d := w.Kinds.all[Kind{group, kind}]
	namespace, _ := metadata["namespace"].(string)
	if d == nil || metadata == nil || kind == "CustomResourceDefinition" || name != "" && !isName(name) && !strings.Contains(name, ":") || namespace != "" && !isName(namespace) {
		return // no API server takes it
	}
	o := &Object{Kind: d.kind, Version: version, Name: name, Content: content, File: file}
	o.Labels, _ = metadata["labels"].(map[string]any)
	if !d.cluster {
		if o.Namespace, _ = metadata["namespace"].(string); o.Namespace == "" {
			o.Namespace = "default"
			metadata["namespace"] = o.Namespace
		}
	} else {
		delete(metadata, "namespace")
	}
	w.Objects = append(w.Objects, o)
}

// settle makes the index of names.
func (w *World) settle() {
	for _, o := range w.Objects {
		if o.Name != "" {
			w.byName[o.Name] = append(w.byName[o.Name], o)
		}
		spec, _ := o.Content["spec"].(map[string]any)
		template, _ := spec["template"].(map[string]any)
		metadata, _ := template["metadata"].(map[string]any)
		if labels, ok := metadata["labels"].(map[string]any); ok {
			w.pods = append(w.pods, &Object{Kind: Kind{"", "Pod"}, Namespace: o.Namespace, Labels: labels, File: o.File, Name: o.Name})
		}
	}
}

func splitVersion(apiVersion string) (group, version string) {
	if before, after, ok := strings.Cut(apiVersion, "/"); ok {
		return before, after
	}
	return "", apiVersion
}
