package imports

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listed asks go list about a package and everything that it needs, on another platform
// where the environment says so.
func listed(t *testing.T, packagePath, format string, environment ...string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, packagePath)
	command.Dir = root
	command.Env = append(os.Environ(), environment...)
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", packagePath, err, errs.String())
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	return slices.Compact(all)
}

// TestModules: a program that imports the API types or the Go client compiles only these
// modules: the ones that client-go's transport needs, and none of the operator's.
// docs/design/0011 says why api and client are not separate modules.
func TestModules(t *testing.T) {
	types := []string{
		"github.com/fxamacker/cbor/v2", "github.com/go-logr/logr", "github.com/json-iterator/go", "github.com/modern-go/concurrent",
		"github.com/modern-go/reflect2", "github.com/x448/float16", "go.yaml.in/yaml/v2", "golang.org/x/net", "golang.org/x/text",
		"gopkg.in/inf.v0", "graphview.dev", "k8s.io/apimachinery", "k8s.io/klog/v2", "k8s.io/kube-openapi", "k8s.io/utils",
		"sigs.k8s.io/json", "sigs.k8s.io/randfill", "sigs.k8s.io/structured-merge-diff/v6",
	}
	client := append([]string{
		"github.com/coder/websocket", "github.com/davecgh/go-spew", "github.com/munnerz/goautoneg", "golang.org/x/oauth2", "golang.org/x/sys",
		"golang.org/x/term", "golang.org/x/time", "k8s.io/client-go", "sigs.k8s.io/yaml",
	}, types...)
	slices.Sort(client)
	for packagePath, want := range map[string][]string{
		"./api/reason": {"graphview.dev"}, "./api/v1alpha1": types, "./api/stream/v1alpha1": types, "./client": client,
		"./stream/format": {"graphview.dev"},
	} {
		if diff := cmp.Diff(want, listed(t, packagePath, "{{with .Module}}{{.Path}}{{end}}")); diff != "" {
			t.Errorf("modules of %s (-want +got):\n%s", packagePath, diff)
		}
	}
}

// TestPluginPlatforms: on each platform that a release has the plugin for, every package that
// it needs has files. That they compile, make release finds out.
func TestPluginPlatforms(t *testing.T) {
	for _, platform := range []string{"linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			system, architecture, _ := strings.Cut(platform, "/")
			all := listed(t, "./cmd/kubectl-graphview", "{{.ImportPath}}", "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
			if !slices.Contains(all, "graphview.dev/client") {
				t.Error("it does not need the client")
			}
		})
	}
}

// TestPlugin: kubectl graphview links no controller.
func TestPlugin(t *testing.T) {
	for _, packagePath := range listed(t, "./cmd/kubectl-graphview", "{{.ImportPath}}") {
		if packagePath == "graphview.dev/controllers" || strings.HasPrefix(packagePath, "sigs.k8s.io/controller-runtime") {
			t.Errorf("it links %s", packagePath)
		}
	}
}
