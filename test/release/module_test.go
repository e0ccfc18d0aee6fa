package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestGoModule: the program of docs/clients.md is one's own module, with the version
// that the release's tags give, from a proxy of Go modules.
func TestGoModule(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	proxy, work := t.TempDir(), t.TempDir()
	serveModule(t, root, filepath.Join(proxy, "graphview.dev", "@v"))
	page, err := os.ReadFile(filepath.Join(root, "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("docs/clients.md has no program")
	}
	if err := os.WriteFile(filepath.Join(work, "main.go"), program[1], 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The dependencies are in the module cache of this machine already. Other versions that
	// they require may be missing from it. The test unpacks the project's own modules into its
	// own cache, because their content differs each time.
	cache, registry, _ := strings.Cut(strings.TrimSpace(string(known)), "\n")
	downloads := filepath.Join(cache, "cache", "download")
	modules := filepath.Join(t.TempDir(), "modules")
	for _, args := range [][]string{
		{"mod", "init", "example.com/follow"}, {"get", "graphview.dev@" + version}, {"mod", "tidy"}, {"build", "-trimpath", "-o", "follow", "."},
	} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = work
		command.Env = append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+downloads+","+registry, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw",
			"GOMODCACHE="+modules, "CGO_ENABLED=0")
		fixture.MustRun(t, command)
	}
	text, err := os.ReadFile(filepath.Join(work, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "graphview.dev "+version) {
		t.Errorf("go.mod is\n%s", text)
	}
	for _, heavy := range []string{"controller-runtime", "cel-go", "k8s.io/apiserver"} {
		if strings.Contains(string(text), heavy) {
			t.Errorf("whoever imports the client needs %s:\n%s", heavy, text)
		}
	}
}

// serveModule writes what a proxy has of this repository's last commit.
func serveModule(t *testing.T, root, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list": version + "\n", version + ".mod": string(manifest), version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	tree := t.TempDir()
	unpacking := exec.CommandContext(t.Context(), "sh", "-c", `git archive HEAD | tar -x -C "$0"`, tree)
	unpacking.Dir = root
	fixture.MustRun(t, unpacking)
	if err := zip.CreateFromDir(archive, module.Version{Path: "graphview.dev", Version: version}, tree); err != nil {
		t.Fatal(err)
	}
}
