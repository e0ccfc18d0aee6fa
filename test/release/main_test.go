package release

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

const version = "v1.2.3-rc.1"

// published is a release that was made and published.
type published struct {
	root, dir string
	registry  string // host:port/path
	files     string // URL of the release's files
}

// publish builds a release and pushes its image and chart.
func publish(t *testing.T) *published {
	t.Helper()
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	out, programs := t.TempDir(), t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	p := &published{root: root, dir: filepath.Join(out, version), files: server.URL}
	images := filepath.Join(root, "hack", "image")
	for name, dir := range map[string]string{"release": root, "image": images, "registry": images} {
		what := map[string]string{"release": "./hack/release", "image": ".", "registry": "./registry"}[name]
		p.run(t, dir, "go", "build", "-buildvcs=false", "-o", filepath.Join(programs, name), what)
	}
	p.registry = serveRegistry(t, filepath.Join(programs, "registry")) + "/graphview"
	p.run(t, root, filepath.Join(programs, "release"), "-version", version, "-registry", p.registry, "-download", server.URL, "-out", out,
		"-platforms", "linux/"+runtime.GOARCH, "-plugins", runtime.GOOS+"/"+runtime.GOARCH, "-allow-dirty")
	p.run(t, root, filepath.Join(programs, "image"), "-from", filepath.Join(p.dir, "graphview-image-"+version+".tar"), "-push", p.registry+"/manager:"+version)
	p.helm(t, "push", filepath.Join(p.dir, "graphview-chart-"+version[1:]+".tgz"), "oci://"+p.registry+"/charts", "--plain-http")
	return p
}

// run runs a program to its end and returns what it printed.
func (p *published) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	return fixture.MustRun(t, command)
}

// helm runs Helm, with settings of its own.
func (p *published) helm(t *testing.T, args ...string) string {
	t.Helper()
	return fixture.MustRun(t, fixture.Helm(t, p.root, args...))
}

// serveRegistry starts the registry, which ends with the test, and returns its
// host:port.
func serveRegistry(t *testing.T, program string) string {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // that ends it
		if err := command.Wait(); err != nil {
			t.Errorf("the registry: %v", err)
		}
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// get is what is at a URL.
func get(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, response.Status, err, body)
	}
	return body
}
