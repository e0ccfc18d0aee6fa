package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes files below a new folder, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// load loads a text, without faults.
func load(t *testing.T, text string) *Manifests {
	t.Helper()
	m := NewLoader(Options{Paths: []string{Stdin}, Stdin: strings.NewReader(text)}).Load()
	for _, err := range m.Faults {
		t.Error(err)
	}
	return m
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"

// bomb has aliases that stand for ten to the power of n values.
func bomb(n int) string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < n; i++ {
		alias := "*a" + string(rune('0'+i-1))
		text += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(alias+", ", 9) + alias + "]\n"
	}
	return text
}

// TestHostile: a document that an API server would refuse, or a parser could die of, is an error with file and line.
func TestHostile(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"aliases":             {configMap + "---\n" + configMap + bomb(9), "f.yaml:4: this is no YAML: document contains excessive aliasing"},
		"fewer aliases":       {configMap + bomb(6), "document contains excessive aliasing"},
		"nested":              {configMap + "data: " + strings.Repeat("[", 20_000), "f.yaml"},
		"large file":          {configMap + "# " + strings.Repeat("x", maxFile), "f.yaml: larger than 32 MB"},
		"large document":      {"---\n" + strings.Repeat("- a\n", maxDocument/4+1), "f.yaml:1: the document has 8 MB, and at most 8 are read"},
		"large object":        {configMap + "data: {a: " + strings.Repeat("x", maxObject+1) + "}", "f.yaml:3: ConfigMap has 3 MB: an API server accepts 3"},
		"control characters":  {"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"a\\e[2Jb\"\n", `f.yaml:5: ConfigMap: "a\x1b[2Jb" is no name`},
		"path as a name":      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../etc}\n", "f.yaml:3: ConfigMap: "},
		"no name":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a}\n", "f.yaml:3: ConfigMap has no metadata.name"},
		"no metadata":         {"apiVersion: v1\nkind: ConfigMap\n", "f.yaml:1: ConfigMap has no metadata"},
		"name that is a list": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [a]}\n", "f.yaml:3: ConfigMap has no metadata.name"},
		"twice":               {"---\n" + configMap + "data: {a: b}\ndata: {a: c}\n", `f.yaml:6: this is no YAML: "data" is here twice`},
		"template":            {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n", "this looks like a template"},
		"indentation":         {configMap + "data:\n  a: b\n c: d\n", "f.yaml:5: this is no YAML"},
		"encrypted":           {"apiVersion: ENC[AES256_GCM,data:a]\nkind: ENC[AES256_GCM,data:a]\nmetadata:\n  name: ENC[a]\n", "it is encrypted, also its kind and name"},
		"definition":          {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: 5\n", "f.yaml:3: the CustomResourceDefinition lacks"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			folder := write(t, map[string]string{"f.yaml": tt.text})
			m := NewLoader(Options{Paths: []string{filepath.Join(folder, "f.yaml")}}).Load()
			if len(m.Faults) != 1 || !strings.Contains(m.Faults[0].Error(), tt.want) {
				t.Errorf("faults = %.300v, want %q", m.Faults, tt.want)
			}
		})
	}
}

// TestFolder: a folder is read with its subfolders. Files that are no manifests, and files outside, are not.
func TestFolder(t *testing.T) {
	named := func(name string) string { return strings.ReplaceAll(configMap, "NAME", name) }
	outside := write(t, map[string]string{"secret.yaml": named("outside")})
	folder := write(t, map[string]string{
		"a.yaml": named("a"), "deep/b.yml": named("b"), "deep/c.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`,
		".git/d.yaml": named("d"), "readme.md": named("e"), "values.yaml": "replicas: [1", "pipeline.yaml": "kind: Pipeline\nsteps: 1\n",
		"chart/Chart.yaml": "apiVersion: v2\nname: chart\n", "chart/templates/f.yaml": "{{ if }}",
		"base/kustomization.yaml": "resources: [g.yaml]\nconfigMapGenerator: [{name: made, literals: [a=b]}]\n", "base/g.yaml": named("g"), "base/unused.yaml": named("unused"),
		"over/kustomization.yaml": "resources: [../base]\nnamePrefix: over-\n",
		"far/kustomization.yaml":  "resources: ['https://example.com/h.yaml', i.yaml]\n", "far/i.yaml": named("i"),
		"list.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: j}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: k}}\n",
	})
	if err := os.Symlink(filepath.Join(outside, "secret.yaml"), filepath.Join(folder, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	m := NewLoader(Options{Paths: []string{folder}, Namespace: "shop"}).Load()
	var got []string
	for _, o := range m.OfKind("", "ConfigMap") {
		got = append(got, o.Name)
	}
	want := "a b c i j k over-g over-made-"
	if text := strings.Join(got, " "); !strings.HasPrefix(text, want) || len(got) != 8 {
		t.Errorf("objects = %q, want %q", text, want)
	}
	for _, err := range m.Faults {
		t.Error(err)
	}
	warnings := strings.Join(m.Warnings, "\n")
	for _, want := range []string{"chart: a Helm chart is left out", "link.yaml: left out, because it leads out of the folder", "far: left out: https://example.com/h.yaml of "} {
		if !strings.Contains(warnings, want) {
			t.Errorf("%q is not in\n%s", want, warnings)
		}
	}
}

// TestWalkedKustomization: a kustomization below the folder reads the whole folder. It reads no file outside, also not
// through a link.
func TestWalkedKustomization(t *testing.T) {
	named := func(name string) string { return strings.ReplaceAll(configMap, "NAME", name) }
	outside := write(t, map[string]string{"secret.yaml": named("outside")})
	folder := write(t, map[string]string{
		"clusters/a/kustomization.yaml": "resources: [../../apps/web.yaml, ../../../" + filepath.Base(outside) + "/secret.yaml]\nhelmCharts: [{name: a}]\ngenerators: [g.yaml]\n",
		"clusters/a/g.yaml":             "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: g}\nfiles: [s.yaml]\n",
		"apps/web.yaml":                 named("web"),
		"linked/kustomization.yaml":     "resources: [link.yaml]\n",
		"talos/config.yaml":             "patches:\n- |-\n  apiVersion: v1\n  kind: A\na: b\na: c\n",
	})
	if err := os.Symlink(filepath.Join(outside, "secret.yaml"), filepath.Join(folder, "linked", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	m := NewLoader(Options{Paths: []string{folder}}).Load()
	if got := m.OfKind("", "ConfigMap"); len(got) != 1 || got[0].Name != "web" {
		t.Errorf("%d objects: %v", len(got), got)
	}
	for _, err := range m.Faults {
		t.Error(err)
	}
	warnings := strings.Join(m.Warnings, "\n")
	for _, want := range []string{"left out: helmCharts of", "left out: generators of", "is outside "} {
		if !strings.Contains(warnings, want) {
			t.Errorf("%q is not in\n%s", want, warnings)
		}
	}
}

// TestKustomization: a folder that was named is built, or there is an error; a folder that looks like a host is not cloned.
func TestKustomization(t *testing.T) {
	folder := write(t, map[string]string{
		"host/kustomization.yaml":                     "resources: [github.com/org/repo]\n",
		"host/github.com/org/repo/kustomization.yaml": "resources: []\n",
		"generated/kustomization.yaml":                "configMapGenerator: [{name: a, files: ['b=https://example.com/b']}]\n",
		"helm/kustomization.yaml":                     "helmCharts: [{name: a}]\n",
		"broken/kustomization.yaml":                   "resources: [a.yaml]\n",
		"broken/a.yaml":                               "kind: [",
	})
	for name, want := range map[string]string{
		"host": "github.com/org/repo of ", "generated": "https://example.com/b of ", "helm": "helmCharts of ", "broken": "a.yaml", "none": "no such file",
	} {
		m := NewLoader(Options{Kustomizations: []string{filepath.Join(folder, name)}}).Load()
		if len(m.Faults) != 1 || !strings.Contains(m.Faults[0].Error(), want) {
			t.Errorf("%s: faults = %v, want %q", name, m.Faults, want)
		}
	}
}

// TestPosition: references have their line and column, in lists, in later documents and in lists of objects.
func TestPosition(t *testing.T) {
	m := load(t, `# a comment
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  volumes:
  - name: one
    configMap: {name: first}
  - name: two
    configMap:
      name: second
--- # another
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: b
    annotations:
      example.com/a: x
  spec: {nodeName: here}
`)
	tests := map[string]struct{ object, field, value, want string }{
		"first of a list":   {"a", "spec.volumes[].configMap.name", "first", "<stdin>:9:23"},
		"second of a list":  {"a", "spec.volumes[].configMap.name", "second", "<stdin>:12:13"},
		"other value":       {"a", "spec.volumes[].configMap.name", "third", "<stdin>:9:23"},
		"absent field":      {"a", "spec.serviceAccountName", "default", "<stdin>:6:1"},
		"element of a List": {"b", "spec.nodeName", "here", "<stdin>:23:20"},
		"annotation":        {"b", "metadata.annotations['example.com/a']", "x", "<stdin>:22:22"},
		"inferred":          {"b", "inferred/spec.nodeName", "here", "<stdin>:23:20"},
	}
	for name, tt := range tests {
		o := m.Objects[Key{podKind, "default", tt.object}]
		if got := o.Position(tt.field, tt.value).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
