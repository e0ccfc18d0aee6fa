package env

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func testCRDs(t *testing.T, c *ControlPlane) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "widgets.yaml"), []byte(widgets), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // applying again changes nothing
		if err := c.InstallCRDs(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Kubectl(t.Context(), "get", "widgets.example.com"); err != nil {
		t.Error(err)
	}
	if err := c.InstallCRDs(t.Context(), t.TempDir()); err == nil {
		t.Error("an empty directory is no error")
	}
}

func testAPIService(t *testing.T, c *ControlPlane) {
	t.Helper()
	port := extensionServer(t, c)
	if err := c.registerAPIService(t.Context(), "extension.example.com", "v1", port, c.CA()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Kubectl(t.Context(), "get", "--raw", "/apis/extension.example.com/v1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), "APIResourceList") {
		t.Errorf("answer %s, want the extension server's", got)
	}
}

// extensionServer serves a group's discovery document and nothing else.
func extensionServer(t *testing.T, c *ControlPlane) (port int) {
	t.Helper()
	dir := t.TempDir()
	if err := c.ServingCertificate(dir, ServiceName+"."+ServiceNamespace+".svc"); err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"extension.example.com/v1","resources":[]}`))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}
