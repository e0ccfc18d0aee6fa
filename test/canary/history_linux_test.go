package canary

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/graphview/history"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// release is a kind that has the values of a Helm chart, as Flux has.
const release = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, plural: helmreleases}
  scope: Namespaced
  versions:
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// changing are objects in which everything changes. Fields such as image and version, whose values the history
// keeps elsewhere, occur where it keeps none. CANARY becomes a hidden value, and SHOWN a value that must be found.
const changing = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: changing, annotations: {version: CANARY-annotation}}
data: {image: CANARY-config, settings.json: '{"password": "CANARY-config-file"}'}
binaryData: {version: BASE64-binary}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: changing, annotations: {image: CANARY-secret-annotation}}
stringData: {image: CANARY-secret}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: changing, annotations: {image: CANARY-workload-annotation}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {version: CANARY-pod-annotation}}
    spec:
      containers:
      - name: main
        image: example.com/SHOWN
        command: [sh, -c, CANARY-command]
        args: [--password=CANARY-arg, CANARY-second-arg]
        env: [{name: image, value: CANARY-env}, {name: PASSWORD, value: CANARY-password}]
        livenessProbe: {exec: {command: [CANARY-probe]}}
        readinessProbe: {httpGet: {path: /, port: 80, httpHeaders: [{name: version, value: CANARY-header}]}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: changing}
spec:
  chart: {spec: {chart: web, version: SHOWN}}
  values: {image: {tag: CANARY-helm-tag}, replicas: CANARY-helm-replicas, auth: [{version: CANARY-helm-list}]}
`

// version returns the objects with values of their own, and these values by name.
func version(n int) (manifest string, hidden map[string]string, shown string) {
	mark := fmt.Sprintf("%016x", rand.Uint64())
	hidden = map[string]string{}
	words := strings.FieldsFunc(changing, func(r rune) bool { return strings.ContainsRune(" \n'\"=,[]{}", r) })
	for _, word := range words {
		if name, found := strings.CutPrefix(word, "CANARY-"); found {
			hidden[fmt.Sprintf("%s of version %d", name, n)] = "canary" + mark + "-" + name
		}
	}
	binary := "canary" + mark + "-binary"
	hidden[fmt.Sprintf("binary of version %d", n)] = binary
	shown = fmt.Sprintf("shown-%s", mark)
	return strings.NewReplacer("CANARY", "canary"+mark, "SHOWN", shown, "BASE64-binary", base64Of(binary)).Replace(changing), hidden, shown
}

// TestHistory: of objects that are added, changed, removed and made again, the history has the paths that changed, and no value but
// those of fields such as images: not in its file, in an answer of the server, in one of the plugin, or in the log.
func TestHistory(t *testing.T) {
	kept := t.TempDir()
	startOperator(t, nil, "--history-dir="+kept)
	if err := manager.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	fixture.Apply(t, cluster, release)
	kubectl(t, "wait", "--for=condition=Established", "crd/helmreleases.helm.toolkit.fluxcd.io", fixture.Timeout())
	kubectl(t, "create", "namespace", "changing")
	fixture.Apply(t, cluster, `
apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: all, namespace: changing}
spec:
  queries: [{include: {resourceSelectorExpression: "resource in ['configmaps', 'secrets', 'deployments', 'helmreleases']"}}]
  namespaces: {names: [changing]}
`)
	kubectl(t, "wait", "--for=condition=Ready", "-n", "changing", "gv/all", fixture.Timeout())
	client := port(t)
	url := strings.Replace(graphPath("", "all"), "namespaces/hidden", "namespaces/changing", 1)
	needles, shown := map[string][]byte{}, []string{}
	var moments []string
	for n := range 4 {
		manifest, hidden, control := version(n)
		for name, value := range hidden {
			maps.Copy(needles, forms(name, value))
		}
		if n == 3 { // what was removed is made again
			kubectl(t, "delete", "-f", fixture.Manifest(t, manifest))
		}
		fixture.KubectlApply(t, cluster, manifest)
		shown = append(shown, control)
		eventually(t, func() string {
			if code, body := tryGet(t, client, url); code != http.StatusOK || strings.Count(body, control) < 2 {
				return fmt.Sprintf("%d, and the graph lacks %s: %.500s", code, control, body)
			}
			return ""
		})
		moments = append(moments, time.Now().UTC().Format(time.RFC3339Nano))
	}
	said := map[string]string{
		"?changes=": get(t, client, url+"?changes=&limit=1000"), "?changes= of one": get(t, client, url+"?changes=deployments.apps/changing/web&limit=1000"),
		"changes -o json": plugged(t, "changes", "-o", "json"), "changes -o wide": plugged(t, "changes", "-o", "wide"), "changes": plugged(t, "changes"),
		"explain": plugged(t, "explain", "deployment/web"), "problems": plugged(t, "problems"),
	}
	for _, at := range moments {
		said["?at="+at] = get(t, client, url+"?at="+at)
	}
	for _, path := range []string{"spec.template.spec.containers[main].env[PASSWORD].value", "data.image", "spec.values.image.tag", "metadata.annotations[version]", "spec.template.spec.containers[main].args[0]"} {
		if !strings.Contains(said["?changes="], `"`+path+`"`) {
			t.Errorf("no change of %s: %s", path, said["?changes="])
		}
	}
	for _, answer := range []string{"?changes=", "changes -o json", "changes -o wide"} {
		for _, control := range shown[:3] {
			if !strings.Contains(said[answer], control) {
				t.Errorf("%s lacks the image %s: %s", answer, control, said[answer])
			}
		}
	}
	manager.Kill()
	log, err := os.ReadFile(manager.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	said["log"] = string(log)
	for where, text := range said {
		wantNone(t, where, []byte(text), needles)
	}
	needles[control] = []byte(shown[1])
	wantUnstored(t, kept, needles, control)
}

// plugged runs the plugin in the namespace of the test.
func plugged(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	command := exec.CommandContext(ctx, cluster.KubectlPath(), append([]string{"graphview", "-n", "changing"}, args...)...)
	command.Env = fixture.Shell(t, cluster, cluster.Config(), filepath.Dir(plugin))
	out, errs, code := fixture.Run(t, command)
	if code > 1 { // problems ends with 1 if there are any
		t.Fatalf("%v: exit code %d: %s", args, code, errs)
	}
	return out + errs
}

// wantNone wants none of the needles in a text, except for the control.
func wantNone(t *testing.T, where string, text []byte, needles map[string][]byte) {
	t.Helper()
	for name, needle := range needles {
		if at := bytes.Index(text, needle); at >= 0 && name != control {
			t.Errorf("%s has %s: …%.300q", where, name, text[max(0, at-150):])
		}
	}
}

// wantUnstored wants none of the needles in the directory of a history whose operator has ended: not in the bytes of its file, and
// not in its entries, which are compressed there. It wants the needle that is called found.
func wantUnstored(t *testing.T, dir string, needles map[string][]byte, found string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		wantNone(t, file.Name(), text, needles)
	}
	store, err := history.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	log, entries := history.NewLog(history.Options{Store: store}), 0
	var all bytes.Buffer
	for _, namespace := range log.Namespaces(0) {
		for e := range log.Forward(namespace, 0) {
			entries++
			fmt.Fprintf(&all, "%+v %q %q\n", *e, e.Before.Unpack().Reason, e.After.Unpack().Reason)
		}
	}
	wantNone(t, "an entry", all.Bytes(), needles)
	if !bytes.Contains(all.Bytes(), needles[found]) {
		t.Errorf("%s is in none of %d entries: the search sees nothing", found, entries)
	}
}
