package plugin

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// needed is the namespace of testdata/needs/objects.yaml.
const needed = "needs"

// prepare creates the objects that the steps read, and a GraphView of each preset. All
// become ready and effective.
func prepare(t *testing.T, s shell) {
	t.Helper()
	fixture.Kubectl(t, cluster, "create", "namespace", needed)
	fixture.Kubectl(t, cluster, "-n", needed, "apply", "-f", filepath.Join("testdata", "needs", "objects.yaml"))
	written := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(written, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("release.json", helmRelease(t))
	for args, name := range presets {
		stdout, stderr, code := s.run(t, append(append([]string{"new"}, strings.Fields(args)...), "--service-account=")...)
		if code != 0 {
			t.Fatalf("new %s: %s", args, stderr)
		}
		write(name+".yaml", []byte(stdout))
	}
	fixture.Kubectl(t, cluster, "apply", "-f", written)
	for _, condition := range []string{"Ready", "Effective"} {
		fixture.Kubectl(t, cluster, "-n", needed, "wait", "--for=condition="+condition, fixture.Timeout(), "graphview", "--all")
	}
}

// helmRelease is the Secret in which Helm would keep the release pay.
func helmRelease(t *testing.T) []byte {
	t.Helper()
	release, err := json.Marshal(map[string]any{
		"name": "pay", "namespace": needed, "version": 1, "info": map[string]any{"status": "deployed"},
		"manifest": "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: pay\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: pay-notes\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(release); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{
			"name": "sh.helm.release.v1.pay.v1", "namespace": needed,
			"labels": map[string]string{"owner": "helm", "name": "pay", "status": "deployed", "version": "1"},
		},
		"stringData": map[string]string{"release": base64.StdEncoding.EncodeToString(packed.Bytes())},
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
