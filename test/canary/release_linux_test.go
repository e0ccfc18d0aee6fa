package canary

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
)

// helmRelease is a release as Helm stores it: JSON, gzipped, in base64, which a
// Secret then has in base64 once more. Its canaries are where releases have
// passwords: in values, in a container's environment, in a Secret of the
// manifest, in a hook, in the notes.
func helmRelease(t *testing.T, namespace string, version int, c map[string]string) (encoded string) {
	t.Helper()
	manifest := fmt.Sprintf(`---
# Source: shop/templates/secret.yaml
apiVersion: v1
kind: Secret
metadata: {name: shop-keys}
stringData: {key: %q}
---
# Source: shop/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, labels: {app: shop}}
spec:
  template:
    spec:
      containers: [{name: main, image: example.com/shop, env: [{name: PASSWORD, value: %q}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop-settings}
`, c["release manifest"], c["release environment"])
	release := map[string]any{
		"name": "shop", "namespace": namespace, "version": version, "manifest": manifest,
		"info":   map[string]any{"status": "deployed", "notes": "log in with " + c["release notes"], "description": "Install complete"},
		"config": map[string]any{"auth": map[string]any{"password": c["release config"]}},
		"chart": map[string]any{
			"metadata":  map[string]any{"name": "shop", "version": "1.0.0", "apiVersion": "v2"},
			"values":    map[string]any{"auth": map[string]any{"password": c["chart values"]}},
			"templates": []any{map[string]any{"name": "templates/secret.yaml", "data": []byte("key: " + c["chart template"])}},
		},
		"hooks": []any{map[string]any{
			"name": "shop-migrate", "kind": "Job", "path": "shop/templates/job.yaml", "events": []string{"pre-upgrade"},
			"manifest": fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: shop-migrate, annotations: {note: %q}}\n", c["release hook"]),
		}},
	}
	text, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// forms are what a text may look like: itself, and in base64 as an API server
// has a Secret's data.
func forms(name, text string) map[string][]byte {
	once := base64Of(text)
	// The last characters depend on what follows.
	return map[string][]byte{name: []byte(text), name + ", base64": []byte(once[:(len(once)-4)/4*4])}
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
