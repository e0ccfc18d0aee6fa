package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// release is a Helm release of a manifest, as Helm keeps it.
func release(t *testing.T, namespace, manifest string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"name": "x", "namespace": namespace, "info": map[string]any{"status": "deployed"}, "manifest": manifest,
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

func repeated(prefix, one string, n int, suffix string) string {
	return prefix + strings.Repeat(one, n) + suffix
}

// manifests that are small and ask for much.
var manifests = map[string]string{
	"aliases of a long string": repeated(`{a: &a "`+strings.Repeat("x", 500_000)+`", b: [`, "*a,", 4000, "]}\n"),
	"aliases of aliases": `a: &a ["x","x","x","x","x","x","x","x","x"]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]
g: [*f,*f,*f,*f,*f,*f,*f,*f,*f]
`,
	"an alias of itself":  "a: &a [*a, *a]\n",
	"merge keys":          repeated("a: &a {x: 1}\n", "b: &b {<<: [*a, *a, *a, *a]}\n", 2000, ""),
	"a long list":         repeated("a: [", "1,", 900_000, "1]\n"),
	"many documents":      repeated("", "a: {b: [1]}\n---\n", 100_000, ""),
	"nested":              repeated("", "[", 10_000, ""),
	"a long key":          repeated("? ", "k", 900_000, "\n: 1\n"),
	"names of a megabyte": repeated("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", "n", 900_000, "}\n"),
	"many objects":        repeated("", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n}\n---\n", 20_000, ""),
}

// TestReleases: a hostile Helm release in a small ConfigMap or Secret affects only that
// object.
func TestReleases(t *testing.T) {
	namespace := newNamespace(t, "releases")
	apply(t, view(namespace, "all", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource in ['configmaps', 'secrets']"}}], namespaces: {names: [%s]}}`, namespace)))
	wantReady(t, namespace, "all")
	meanwhile(t, func(tries *tally) {
		labels := map[string]string{"owner": "helm", "status": "deployed", "name": "x", "version": "1"}
		n := 0
		for name, manifest := range manifests {
			n++
			packed := release(t, namespace, manifest)
			if len(packed) > 1<<20 {
				t.Fatalf("%s: %d bytes, which no API server takes", name, len(packed))
			}
			makeConfigMap(t, namespace, fmt.Sprintf("sh.helm.release.v1.c%d.v1", n), labels, map[string]string{"release": packed})
			secret := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "stringData": map[string]any{"release": packed},
			}}
			secret.SetName(fmt.Sprintf("sh.helm.release.v1.s%d.v1", n))
			secret.SetLabels(labels)
			if _, err := resources(t, namespace, "secrets").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			tries.add("created")
		}
		eventually(t, func() string {
			// All objects are there, whatever could be read of them.
			got := fmt.Sprint(status(t, namespace, "all")["vertices"])
			if want := fmt.Sprint(2 * len(manifests)); got != want {
				return got + " vertices, want " + want
			}
			if warnings := fmt.Sprint(status(t, namespace, "all")["warnings"]); !strings.Contains(warnings, "configmaps") {
				return fmt.Sprintf("their owner is not told: %.500s", warnings)
			}
			return ""
		})
		tries.measure(t)
		// The oracle reads without bounds, so these objects must be deleted before it runs.
		kubectl(t, "delete", "configmaps,secrets", "-n", namespace, "-l", "owner=helm")
	})
}

// TestInterning: an object that names new kinds again and again does not leak memory.
func TestInterning(t *testing.T) {
	namespace := newNamespace(t, "interning")
	apply(t, small(namespace, "all"))
	makeConfigMap(t, namespace, "leak", nil, nil)
	wantReady(t, namespace, "all")
	random := rand.New(rand.NewPCG(12, 13))
	word := func() string {
		letters := make([]byte, 24)
		for i := range letters {
			letters[i] = 'a' + byte(random.IntN(26))
		}
		return string(letters)
	}
	update := func(n int) {
		owners := make([]map[string]any, n)
		for i := range owners {
			owners[i] = map[string]any{"apiVersion": word() + ".x/v1", "kind": "K" + word(), "name": "n", "uid": word()}
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := configMaps(t, namespace).Patch(t.Context(), "leak", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	update(4000)
	update(0)
	collect(t)
	before := measure(t)
	meanwhile(t, func(tries *tally) {
		// Kept, these would be 12 MiB.
		for range 15 {
			update(4000)
			tries.add("updated")
		}
		tries.measure(t)
		update(0)
		eventually(t, func() string { // the operator may not have the last update yet
			collect(t)
			if more := measure(t).heap - before.heap; more > 5<<20 {
				return fmt.Sprintf("%d KiB more heap than before, for good; want 5 MiB at most", more>>10)
			}
			return ""
		})
	})
}

// claimEachOther creates ConfigMaps with a label, and ConfigMaps that each claim all of these,
// as applications of kapp do.
func claimEachOther(t *testing.T, namespace string, objects, holders int) {
	t.Helper()
	inParallel(8, objects, func(i int) { makeConfigMap(t, namespace, fmt.Sprintf("o%d", i), map[string]string{"x": "y"}, nil) })
	claim := `{"labelKey":"x","labelValue":"y","usedGKs":[{"Group":"","Kind":"ConfigMap"}]}`
	inParallel(8, holders, func(i int) {
		makeConfigMap(t, namespace, fmt.Sprintf("h%d", i), map[string]string{"kapp.k14s.io/is-app": ""}, map[string]string{"spec": claim})
	})
}

// TestArcs: small objects that claim all others, as applications of kapp do, make as many
// arcs as their namespace may have. Beyond that there is a warning.
func TestArcs(t *testing.T) {
	namespace := newNamespace(t, "arcs")
	apply(t, small(namespace, "all"))
	const objects, holders = 400, 60
	meanwhile(t, func(tries *tally) {
		claimEachOther(t, namespace, objects, holders)
		for range holders {
			tries.add("created")
		}
		eventually(t, func() string {
			got := fmt.Sprint(status(t, namespace, "all")["vertices"])
			if want := fmt.Sprint(objects + holders); got != want {
				return got + " vertices, want " + want
			}
			return ""
		})
		collect(t)
		tries.measure(t)
		t.Logf("%v arcs of %d objects that claim %d each", status(t, namespace, "all")["arcs"], holders, objects)
		clearConfigMaps(t, namespace, "kapp.k14s.io/is-app")
	})
	clearConfigMaps(t, namespace, "")
}

// TestClaimsThatChange: objects that each claim very many others, and change all the time, delay no change of another
// namespace's object of the same kind.
func TestClaimsThatChange(t *testing.T) {
	const objects, holders, views, rounds = 1_500, 60, 20, 20
	namespace := newNamespace(t, "claims")
	claimEachOther(t, namespace, objects, holders)
	for i := range views { // each has all the references
		apply(t, small(namespace, fmt.Sprint("all-", i)))
	}
	wantReady(t, namespace, fmt.Sprint("all-", views-1))
	behind := meanwhile(t, func(tries *tally) {
		maps := configMaps(t, namespace)
		for round := range rounds {
			patch := fmt.Appendf(nil, `{"data":{"spec":%q}}`, fmt.Sprintf(`{"labelKey":"x","labelValue":%q,"usedGKs":[{"Group":"","Kind":"ConfigMap"}]}`, []string{"z", "y"}[round%2]))
			inParallel(12, holders, func(i int) {
				if _, err := maps.Patch(t.Context(), fmt.Sprint("h", i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					t.Error(err)
				}
				tries.add("changed")
			})
		}
		tries.measure(t)
		eventually(t, func() string { // the references are those of the last change
			if got, want := fmt.Sprint(status(t, namespace, "all-0")["arcs"]), fmt.Sprint(objects*holders); got != want {
				return got + " references, want " + want
			}
			return ""
		})
		deleteViews(t, namespace)
	})
	// The bystander's object changes ten times a second.
	if behind > mostBehind {
		t.Errorf("the bystander's stream was %d changes behind a plain watch, want at most %d", behind, mostBehind)
	}
	clearConfigMaps(t, namespace, "")
}

// mostBehind is the number of changes by which a stream may be behind a plain watch of one object while attackers have
// both processors. If their references took no turns these would be hundreds.
const mostBehind = 15

// TestMultipliedPaths: what a JSONPath finds is no more than a view may keep.
func TestMultipliedPaths(t *testing.T) {
	namespace := newNamespace(t, "paths")
	const objects = 1600
	inParallel(8, objects, func(i int) {
		makeConfigMap(t, namespace, fmt.Sprintf("j%d", i), nil, map[string]string{"a": strings.Repeat("y", 500)})
	})
	meanwhile(t, func(tries *tally) {
		apply(t, view(namespace, "multiplied", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "group == '' && resource == 'configmaps'", object: {jsonPath: %s}}}], namespaces: {names: [%s]}}`,
			quoted(strings.Repeat("{.data}", 1000)), namespace)))
		wantReady(t, namespace, "multiplied")
		code, body := get(t, client(t, "reader"), manager.URL()+strings.Replace(watchPath(namespace, "multiplied"), "/watch", "", 1))
		if code != http.StatusOK {
			t.Errorf("%d %.300s", code, body)
		}
		tries.add("judged")
		tries.measure(t)
		deleteViews(t, namespace)
	})
	clearConfigMaps(t, namespace, "")
}
