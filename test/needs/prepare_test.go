package needs

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// namespace is that of testdata/objects.yaml.
const namespace = "needs"

// shell is the administrator's environment, with both programs on PATH.
type shell []string

func newShell(t *testing.T) shell {
	t.Helper()
	return fixture.Shell(t, cluster, cluster.Config(), folder)
}

// graphview runs the plugin.
func (s shell) graphview(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	command := exec.CommandContext(ctx, cluster.KubectlPath(), append([]string{"graphview", "-n", namespace}, args...)...)
	command.Env = s
	return fixture.Run(t, command)
}

// prepare makes what the steps look at, and the GraphViews of presets, all of which
// become ready and effective.
func prepare(t *testing.T, s shell) {
	t.Helper()
	crds := filepath.Join("testdata", "crds.yaml")
	fixture.Kubectl(t, cluster, "apply", "-f", crds)
	fixture.Kubectl(t, cluster, "wait", "--for=condition=Established", "--timeout=90s", "-f", crds)
	fixture.Kubectl(t, cluster, "create", "namespace", namespace)
	fixture.Kubectl(t, cluster, "-n", namespace, "apply", "-f", filepath.Join("testdata", "objects.yaml"))
	written := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(written, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("release.json", helmRelease(t))
	for args, name := range presets {
		stdout, stderr, code := s.graphview(t, append(append([]string{"new"}, strings.Fields(args)...), "--service-account=")...)
		if code != 0 {
			t.Fatalf("new %s: %s", args, stderr)
		}
		write(name+".yaml", []byte(stdout))
	}
	fixture.Kubectl(t, cluster, "apply", "-f", written)
	for _, condition := range []string{"Ready", "Effective"} {
		fixture.Kubectl(t, cluster, "-n", namespace, "wait", "--for=condition="+condition, "--timeout=90s", "graphview", "--all")
	}
}

// helmRelease is the Secret in which Helm would keep the release pay.
func helmRelease(t *testing.T) []byte {
	t.Helper()
	release, err := json.Marshal(map[string]any{
		"name": "pay", "namespace": namespace, "version": 1, "info": map[string]any{"status": "deployed"},
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
			"name": "sh.helm.release.v1.pay.v1", "namespace": namespace,
			"labels": map[string]string{"owner": "helm", "name": "pay", "status": "deployed", "version": "1"},
		},
		"stringData": map[string]string{"release": base64.StdEncoding.EncodeToString(packed.Bytes())},
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
