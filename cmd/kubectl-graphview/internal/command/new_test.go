package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/cmd/kubectl-graphview/internal/manifest"
	"graphview.dev/graphview/resources"
)

// TestPresets: what new writes is what an operator accepts, and each part of it has an
// effect on a cluster that serves what it is about.
func TestPresets(t *testing.T) {
	var served []resources.Resource
	for _, r := range [][4]string{
		{"", "v1", "pods", "Pod"}, {"", "v1", "services", "Service"}, {"", "v1", "configmaps", "ConfigMap"}, {"", "v1", "secrets", "Secret"},
		{"", "v1", "events", "Event"}, {"", "v1", "nodes", "Node"}, {"", "v1", "persistentvolumes", "PersistentVolume"}, {"", "v1", "serviceaccounts", "ServiceAccount"},
		{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"}, {"apps", "v1", "deployments", "Deployment"}, {"apps", "v1", "statefulsets", "StatefulSet"},
		{"networking.k8s.io", "v1", "ingresses", "Ingress"}, {"rbac.authorization.k8s.io", "v1", "roles", "Role"}, {"argoproj.io", "v1alpha1", "applications", "Application"},
		{"kustomize.toolkit.fluxcd.io", "v1", "kustomizations", "Kustomization"}, {"helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease"},
		{"gateway.networking.k8s.io", "v1", "gateways", "Gateway"}, {"gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute"},
	} {
		served = append(served, resources.Resource{Group: r[0], Version: r[1], Resource: r[2], Kind: r[3], Namespaced: r[3] != "Node" && r[3] != "PersistentVolume"})
	}
	checker, err := manifest.New(manifest.Options{
		RequireServiceAccount: true,
		Cluster:               &manifest.Cluster{Served: resources.NewCatalog(served, nil), Namespaces: []string{"shop"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range presets {
		t.Run(p.use, func(t *testing.T) {
			args := []string{"new", p.use, "-n", "shop"}
			if p.named {
				args = append(args, "pay")
			}
			out, code := runNew(t, args)
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, out)
			}
			r := checker.Check(t.Context(), p.use, []byte(out))
			for _, problem := range append(r.Problems, r.Advice...) {
				t.Error(problem)
			}
			if r.Checked != 1 {
				t.Errorf("%d objects checked in\n%s", r.Checked, out)
			}
		})
	}
}

// TestNewQuotes: a name that YAML would read as something else stays a name.
func TestNewQuotes(t *testing.T) {
	for _, name := range []string{"007", "null", "true", "1e3"} {
		t.Run(name, func(t *testing.T) {
			out, code := runNew(t, []string{"new", "deployment", name, "-n", name, "--service-account", name})
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, out)
			}
			var view v1alpha1.GraphView
			if err := yaml.UnmarshalStrict([]byte(out), &view); err != nil {
				t.Fatalf("%v in\n%s", err, out)
			}
			if view.Name != name || view.Namespace != name || view.Spec.ServiceAccountName != name ||
				!slices.Equal(view.Spec.Namespaces.Names, []v1alpha1.NamespaceName{v1alpha1.NamespaceName(name)}) {
				t.Errorf("another name in\n%s", out)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown preset":     {[]string{"new", "healm", "pay"}, `there is no preset "healm"; did you mean helm?`},
		"no name":               {[]string{"new", "helm"}, "expected new helm NAME"},
		"a name too many":       {[]string{"new", "rbac", "x"}, "expected new rbac"},
		"what is no name":       {[]string{"new", "helm", "a'b"}, `"a'b" is no name`},
		"nothing":               {[]string{"new"}, "expected WHAT [NAME]: helm, "},
		"what YAML would break": {[]string{"new", "helm", "a\nb"}, "is no name"},
		"no namespace's name":   {[]string{"new", "rbac", "-n", "a: b"}, `"a: b" is no name of a namespace`},
		"no account's name":     {[]string{"new", "rbac", "--service-account", "a\nb"}, `--service-account: "a\nb" is no name of a ServiceAccount`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, code := runNew(t, tt.args)
			if code != exitUsage || !strings.Contains(out, tt.want) {
				t.Errorf("exit code %d, %q, want %q", code, out, tt.want)
			}
		})
	}
}

func runNew(t *testing.T, args []string) (out string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	var all bytes.Buffer
	code = Run(t.Context(), "test", args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &all, ErrOut: &all})
	return all.String(), code
}
