package helm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/budget"
)

// layouts are documents that are written in every way that templates write them.
var layouts = map[string]struct {
	text  string
	plain bool
	want  document
}{
	"Plain":       {"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec: {}\n", true, document{"apps/v1", "Deployment", "", "web"}},
	"Quoted":      {"apiVersion: \"v1\" # why\nkind: 'Pod'\nmetadata:\n    name: \"web\"\n    namespace: 'shop'\n", true, document{"v1", "Pod", "shop", "web"}},
	"Carriage":    {"apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: web\r\n", true, document{"v1", "Pod", "", "web"}},
	"Comments":    {"# a\napiVersion: v1 # b\n\nkind: Pod\nmetadata: # c\n  # d\n  name: web # e\n", true, document{"v1", "Pod", "", "web"}},
	"Lists":       {"apiVersion: v1\nkind: Role\nmetadata:\n  finalizers:\n  - a\n  name: a:b\nrules:\n- verbs:\n  - get\n- name: other\n", true, document{"v1", "Role", "", "a:b"}},
	"Nested":      {"apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    name: other\n    text: |\n      kind: Other\n  name: web\nspec:\n  kind: Other\n", true, document{"v1", "Pod", "", "web"}},
	"Block":       {"apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    kind: Other\n\n    metadata:\n      name: other\nmetadata:\n  name: web\n", true, document{"v1", "ConfigMap", "", "web"}},
	"Tabs":        {"apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    x\n \ty\nmetadata:\n  name: web\n", true, document{"v1", "ConfigMap", "", "web"}},
	"Nothing":     {"# nothing\n\n", true, document{}},
	"Flow":        {`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}`, false, document{"v1", "Pod", "", "web"}},
	"FlowPart":    {"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n", false, document{"v1", "Pod", "shop", "web"}},
	"Number":      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 12\n", false, document{"v1", "Pod", "", ""}},
	"DigitsFirst": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 2048-game\n", false, document{"v1", "Pod", "", "2048-game"}},
	"NullSpace":   {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: null\n", false, document{"v1", "Pod", "", "web"}},
	"EmptySpace":  {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace:\n", false, document{"v1", "Pod", "", "web"}},
	"Anchor":      {"x: &n web\napiVersion: v1\nkind: Pod\nmetadata:\n  name: *n\n", false, document{"v1", "Pod", "", "web"}},
	"Escape":      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"we\\u0062\"\n", false, document{"v1", "Pod", "", "web"}},
	"QuotedKey":   {"\"apiVersion\": v1\n\"kind\": Pod\n\"metadata\":\n  \"name\": web\n", false, document{"v1", "Pod", "", "web"}},
	"NextLine":    {"apiVersion: v1\nkind:\n  Pod\nmetadata:\n  name:\n    web\n", false, document{"v1", "Pod", "", "web"}},
	"GoesOn":      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n    on\n", false, document{"v1", "Pod", "", "web on"}},
	"OtherCase":   {"{apiVersion: v1, kind: Pod, metadata: {name: web, nameSpace: other}}", false, document{"v1", "Pod", "", "web"}},
	"ListKind":    {"apiVersion: v1\nkind: AllowList\nmetadata:\n  name: web\n", false, document{"v1", "AllowList", "", "web"}},
}

func TestLayouts(t *testing.T) {
	for name, test := range layouts {
		t.Run(name, func(t *testing.T) {
			got, plain := scan([]byte(test.text))
			if plain != test.plain {
				t.Fatalf("plain is %t, want %t", plain, test.plain)
			}
			if !plain {
				all, err := newManifest("").parse([]byte(test.text))
				if err != nil || len(all) != 1 {
					t.Fatalf("%d documents, %v", len(all), err)
				}
				got = all[0]
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestManifests(t *testing.T) {
	pod := func(name string) string { return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n" }
	for name, test := range map[string]struct {
		text string
		want []string
		err  error
		// exceeds is the bound that the manifest exceeds.
		exceeds *budget.Bound
	}{
		"Two":       {text: pod("a") + "---\n" + pod("b"), want: []string{"a", "b"}},
		"Dashes":    {text: "---\n---  # a\n" + pod("a") + "--- \r\n" + pod("b") + "---", want: []string{"a", "b"}},
		"SameLine":  {text: "--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n" + pod("b"), want: []string{"a", "b"}},
		"List":      {text: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n", want: []string{"a", "b"}},
		"Nameless":  {text: "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a\n"},
		"NoObject":  {text: "just: text\n---\n" + pod("a"), want: []string{"a"}},
		"OddName":   {text: "apiVersion: v1\nkind: Pod\nmetadata: {name: \"a b\"}\n---\n" + pod("a"), want: []string{"a"}},
		"LongName":  {text: pod(strings.Repeat("a", maxName+1)) + "---\n" + pod("a"), want: []string{"a"}},
		"Malformed": {text: pod("a") + "---\n[", err: errManifest, want: nil},
		"TooMuch":   {text: pod("a") + "---\n{a: \"" + strings.Repeat("a", 256<<10) + "\"}", exceeds: releaseBytes, want: []string{"a"}},
		"Nodes":     {text: "[" + strings.Repeat("1,", 40_000) + "]", exceeds: releaseBytes},
		"Documents": {text: strings.Repeat("{a: 1}\n---\n", 2_000), exceeds: releaseBytes},
		"Names":     {text: strings.Repeat(pod(strings.Repeat("a", maxName))+"---\n", 6_000), exceeds: releaseBytes, want: slices.Repeat([]string{strings.Repeat("a", maxName)}, 5461)},
		"Objects":   {text: strings.Repeat(pod("a")+"---\n", 20_000), exceeds: releaseBytes, want: slices.Repeat([]string{"a"}, 15_887)},
		// A gigabyte, were it written out.
		"Aliases": {text: "{a: &a \"" + strings.Repeat("x", 100_000) + "\", b: [" + strings.Repeat("*a,", 10_000) + "], apiVersion: v1, kind: Pod, metadata: {name: a}}", want: []string{"a"}},
		// A million million ways lead to one mapping.
		"Merges":       {text: mergesOfMerges(12), exceeds: releaseBytes},
		"ItemsOfItems": {text: "apiVersion: v1\nkind: List\nx: &x {apiVersion: v1, kind: Pod, metadata: &m {name: a, " + strings.Repeat("b: ,", 10_000) + "}}\nitems: [" + strings.Repeat("*x,", 1_000) + "]", exceeds: releaseBytes},
		"Merged":       {text: "x: &x {apiVersion: v1, kind: Pod}\ny: &y {kind: Node, namespace: shop}\n<<: [*x, *y]\nmetadata: {<<: *y, name: a}", want: []string{"a"}},
		"Itself":       {text: "&a {<<: *a, apiVersion: v1}", exceeds: releaseBytes},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := newManifest("").read([]byte(test.text))
			exceeded, _ := errors.AsType[*budget.Exceeded](err)
			switch {
			case test.exceeds != nil && (exceeded == nil || exceeded.Bound != test.exceeds):
				t.Errorf("error %v, want more than %s", err, test.exceeds.Name())
			case test.exceeds == nil && !errors.Is(err, test.err):
				t.Errorf("error %v, want %v", err, test.err)
			}
			var got []string
			for _, o := range found {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// mergesOfMerges is a document in which ten to the power of depth ways lead to one
// mapping.
func mergesOfMerges(depth int) string {
	text := "x0: &x0 {a: b}\n"
	for i := range depth {
		text += fmt.Sprintf("x%d: &x%d {<<: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d,", i), 10))
	}
	return text + fmt.Sprintf("<<: *x%d\n", depth)
}

// FuzzScan holds the scanner against a YAML parser: what it takes for plain means
// the same to both.
func FuzzScan(f *testing.F) {
	for _, layout := range layouts {
		f.Add(layout.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, plain := scan([]byte(text))
		if !plain || got.apiVersion == "" || got.kind == "" || got.name == "" {
			return
		}
		first, err := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))).Read()
		if err != nil || string(first) != text {
			return // several documents, or none
		}
		var o unstructured.Unstructured
		if yaml.Unmarshal([]byte(text), &o.Object) != nil {
			return // nothing that could have been installed
		}
		if want := (document{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}); got != want {
			t.Errorf("scanned %q, parsed %q", got, want)
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	var manifest bytes.Buffer
	for range 40 {
		manifest.WriteString("---\n" + layouts["Lists"].text + strings.Repeat("- verbs: [get, list, watch]\n  resources: [pods, services]\n", 40))
	}
	object := stored(b, "deployed", packed(b, releaseOf(b, "deployed", manifest.String())), 2)
	b.SetBytes(int64(manifest.Len()))
	b.ReportAllocs()
	var reducer Reducer
	for b.Loop() {
		reducer.Secret(object)
	}
}
