package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stored is a Secret or ConfigMap with a release, as the API server sends it.
func stored(tb testing.TB, status string, packed []byte, layers int) []byte {
	tb.Helper()
	text := packed
	for range layers {
		text = []byte(base64.StdEncoding.EncodeToString(text))
	}
	labels := map[string]string{"owner": "helm"}
	if status != "" {
		labels["status"] = status
	}
	object, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": "sh.helm.release.v1.web.v1", "namespace": "stored", "labels": labels},
		"data":     map[string]string{"release": string(text)},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return object
}

func packed(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func releaseOf(tb testing.TB, status, manifest string) []byte {
	tb.Helper()
	text, err := json.Marshal(map[string]any{
		"name": "web", "version": 1, "namespace": "shop", "manifest": manifest,
		"info":   map[string]any{"status": status, "notes": canary},
		"chart":  map[string]any{"values": map[string]any{"password": canary}, "templates": []map[string]any{{"data": []byte(canary)}}},
		"config": map[string]any{"token": canary, "manifest": "kind: Fake", "namespace": "fake"},
		"hooks":  []map[string]any{{"manifest": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: hook\n"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// canary is part of every value that must not be kept.
const canary = "canary-5d1e0b7a"

const manifestText = `---
# Source: web/templates/all.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  labels: {app: web}
data:
  key: canary-5d1e0b7a
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: other
spec:
  template:
    spec:
      containers:
      - name: canary-5d1e0b7a
        env: [{name: A, value: canary-5d1e0b7a}]
---
{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "shop:web"}, "rules": []}
---
# nothing
`

// secretOf returns the Release that a watch of releases retains of a Secret.
func secretOf(tb testing.TB, object []byte) Release {
	tb.Helper()
	var reducer Reducer
	text := slices.Concat([]byte(`{"metadata":{},"reduced":`), reducer.Secret(object), []byte("}"))
	if bytes.Contains(text, []byte(canary)) {
		tb.Errorf("content is kept: %s", text)
	}
	r, err := Read(text)
	if err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	return r
}

func TestReduce(t *testing.T) {
	managed := []Object{
		{Kind: "ConfigMap", Namespace: "shop", Name: "web"},
		{Group: "apps", Kind: "Deployment", Namespace: "other", Name: "web"},
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Namespace: "shop", Name: "shop:web"},
	}
	var reducer Reducer
	for name, test := range map[string]struct {
		object    []byte
		configMap bool
		want      Release
	}{
		"Deployed":     {object: stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifestText)), 2), want: Release{Deployed: true, Manages: managed}},
		"NotPacked":    {object: stored(t, "deployed", releaseOf(t, "deployed", manifestText), 2), want: Release{Deployed: true, Manages: managed}},
		"ConfigMap":    {object: stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifestText)), 1), configMap: true, want: Release{Deployed: true, Manages: managed}},
		"Pending":      {object: stored(t, "pending-upgrade", packed(t, releaseOf(t, "pending-upgrade", manifestText)), 2), want: Release{Pending: true, Manages: managed}},
		"PendingInIt":  {object: stored(t, "", packed(t, releaseOf(t, "pending-rollback", manifestText)), 2), want: Release{Pending: true, Manages: managed}},
		"Superseded":   {object: stored(t, "superseded", packed(t, releaseOf(t, "deployed", manifestText)), 2)},
		"LabelDecides": {object: stored(t, "deployed", packed(t, releaseOf(t, "pending-upgrade", manifestText)), 2), want: Release{Deployed: true, Manages: managed}},
		"NoLabel":      {object: stored(t, "", packed(t, releaseOf(t, "deployed", manifestText)), 2), want: Release{Deployed: true, Manages: managed}},
		"NoLabelOld":   {object: stored(t, "", packed(t, releaseOf(t, "superseded", manifestText)), 2)},
		"NoManifest":   {object: stored(t, "deployed", packed(t, []byte(`{"info":{"status":"deployed"}}`)), 2), want: Release{Deployed: true}},
		"NoNamespace":  {object: stored(t, "deployed", []byte(`{"info":{"status":"deployed"},"manifest":"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"}`), 2), want: Release{Deployed: true, Manages: []Object{{Kind: "Pod", Namespace: "stored", Name: "a"}}}},
		"NoBase64":     {object: []byte(`{"metadata":{"labels":{"status":"deployed"}},"data":{"release":"!` + canary + `"}}`), want: Release{Deployed: true, Fault: "the release is not base64"}},
		"OneBase64":    {object: stored(t, "deployed", []byte("!"+canary), 1), want: Release{Deployed: true, Fault: "the release is not base64"}},
		"CutGzip":      {object: stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifestText))[:40], 2), want: Release{Deployed: true, Fault: "the release is not gzip"}},
		"GzipHeader":   {object: stored(t, "deployed", gzipMagic, 2), want: Release{Deployed: true, Fault: "the release is not gzip"}},
		"NoJSON":       {object: stored(t, "deployed", packed(t, []byte(canary)), 2), want: Release{Deployed: true, Fault: "the release is not the JSON of a release"}},
		"CutJSON":      {object: stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifestText)[:300]), 2), want: Release{Deployed: true, Fault: "the release is not the JSON of a release"}},
		"OtherJSON":    {object: stored(t, "deployed", packed(t, []byte(`{"password":"`+canary+`"}`)), 2), want: Release{Deployed: true, Fault: "the release is not the JSON of a release"}},
		"NoYAML":       {object: stored(t, "deployed", packed(t, releaseOf(t, "deployed", "{"+canary+": [")), 2), want: Release{Deployed: true, Fault: "the release has a manifest that is not YAML"}},
		"NoData":       {object: []byte(`{"metadata":{"labels":{"status":"deployed"}}}`), want: Release{Deployed: true, Fault: "the release is not there"}},
		"NoString":     {object: []byte(`{"data":{"release":{"a":1}}}`), want: Release{Deployed: true, Fault: "the release is not there"}},
		"NoObject":     {object: []byte(`[]`), want: Release{Deployed: true, Fault: "the release is not there"}},
		"Bomb":         {object: stored(t, "deployed", packed(t, bytes.Repeat([]byte("0"), 40<<20)), 2), want: Release{Deployed: true, Fault: "the release is too large: more than 16777216 bytes that one Helm release takes once it is unpacked, or while it is read"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Release
			if test.configMap {
				got = reducer.ConfigMap(test.object)
			} else {
				got = secretOf(t, test.object)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("release (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFind: of equal members the last one counts, and a member without a name is on no path.
func TestFind(t *testing.T) {
	for object, want := range map[string][]string{
		`{"a":1,"b":{"c":2},"d":{"e":{"f":3}}}`:          {"1", "2", "3"},
		`{"a":1,"b":{"c":2},"b":{"c":4,"c":5},"a":"x"}`:  {`"x"`, "5", ""},
		`{"":6,"b":{"":6,"a":6},"d":{"c":6,"e":{"":6}}}`: {"", "", ""},
		`{"a":{"a":7},"b":[{"c":7}],"d":{"e":null}}`:     {`{"a":7}`, "", ""},
		`["a"]`: nil, `{"a":1`: nil, `{"b":{"c":2}`: nil, ``: nil,
	} {
		found, ok := find([]byte(object), "a", "b.c", "d.e.f")
		var got []string
		for _, value := range found {
			got = append(got, string(value))
		}
		if !ok {
			got = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object, diff)
		}
	}
}

// TestBuffersAreOverwritten: what held a release holds nothing afterwards.
func TestBuffersAreOverwritten(t *testing.T) {
	w := work{layers: 2}
	k, err := w.reduce(stored(t, "deployed", packed(t, releaseOf(t, "deployed", manifestText)), 2))
	if err != nil || len(k.Manages) != 3 {
		t.Fatalf("%d objects, %v", len(k.Manages), err)
	}
	buffers, found := w.buffers, false
	for _, b := range buffers {
		found = found || bytes.Contains(b[:cap(b)], []byte(canary))
	}
	if !found {
		t.Fatal("the canary was in no buffer: the test looks at the wrong ones")
	}
	w.wipe()
	for i, b := range buffers {
		for _, c := range b[:cap(b)] {
			if c != 0 {
				t.Fatalf("buffer %d of %d bytes still holds something", i, cap(b))
			}
		}
	}
}

func TestRevision(t *testing.T) {
	for name, want := range map[string]struct {
		release string
		number  uint64
	}{
		"sh.helm.release.v1.web.v12":                      {"web", 12},
		"sh.helm.release.v1.web.v2.v3":                    {"web.v2", 3},
		"sh.helm.release.v1..v3":                          {},
		"sh.helm.release.v1.web.v":                        {},
		"sh.helm.release.v1.web.vx":                       {},
		"sh.helm.release.v1.web":                          {},
		"sh.helm.release.v1.web.v01":                      {},
		"sh.helm.release.v1.web.v0":                       {},
		"sh.helm.release.v1.web.v10":                      {"web", 10},
		"sh.helm.release.v1.web.v99999999999999999999999": {},
		"web.v1": {},
	} {
		release, number, ok := Revision(name)
		if release != want.release || number != want.number || ok != (want.release != "") {
			t.Errorf("%s: %q %d %t", name, release, number, ok)
		}
	}
}

func FuzzReduce(f *testing.F) {
	f.Add(stored(f, "deployed", packed(f, releaseOf(f, "deployed", manifestText)), 2))
	f.Add(stored(f, "", releaseOf(f, "superseded", manifestText), 2))
	f.Add([]byte(`{"data":{"release":"SDRzSUFB"}}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		r := secretOf(t, object)
		if r.Fault != "" && len(r.Manages) > 0 && !strings.HasPrefix(r.Fault, "the release is too large") {
			t.Errorf("%q, and yet %d objects", r.Fault, len(r.Manages))
		}
	})
}
