package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// helmCanary is in every part of a release that must not be kept.
const helmCanary = "canary-helm-3b9f02d7"

// helmChart is what a test's release installs: a ConfigMap by each of these names,
// a Deployment and something of the cluster's.
func helmChart(namespace string, configMaps ...string) string {
	var manifest bytes.Buffer
	for _, name := range configMaps {
		fmt.Fprintf(&manifest, "---\n# Source: web/templates/%[1]s.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %[1]s\n  labels: {app: web}\ndata:\n  password: %[2]s\n", name, helmCanary)
	}
	fmt.Fprintf(&manifest, `---
{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": %q},
 "spec": {"template": {"spec": {"containers": [{"name": "web", "env": [{"name": "PASSWORD", "value": %q}]}]}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: view # which every cluster has
`, namespace, helmCanary)
	return manifest.String()
}

// helmPacked is a release as Helm packs it.
func helmPacked(t *testing.T, namespace, status, manifest string, revision int) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"name": "web", "namespace": namespace, "version": revision, "manifest": manifest,
		"info":   map[string]any{"status": status, "notes": helmCanary},
		"config": map[string]any{"password": helmCanary},
		"chart":  map[string]any{"values": map[string]any{"password": helmCanary}, "templates": []any{map[string]any{"name": "a", "data": []byte(helmCanary)}}},
		"hooks":  []any{map[string]any{"name": "hook", "kind": "ConfigMap", "manifest": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return zipped(t, text)
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// helmSecret is a revision of the release web as Helm keeps it. Its data, text in
// base64 itself, becomes base64 once more on its way.
func helmSecret(namespace, status string, revision int, data []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("sh.helm.release.v1.web.v%d", revision), Labels: helmLabels(status, revision)},
		Type:       "helm.sh/release.v1",
		Data:       map[string][]byte{"release": data},
	}
}

func helmLabels(status string, revision int) map[string]string {
	return map[string]string{"owner": "helm", "name": "web", "status": status, "version": strconv.Itoa(revision)}
}

// put creates an object or brings what is there into its state.
func put(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	err := c.Create(t.Context(), o)
	if err == nil {
		return
	}
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatalf("put %s: %v", o.GetName(), err)
	}
}
