package plugin

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/fixture"
)

var columns = regexp.MustCompile(` {2,}`)

// TestLocalAgrees: with --local, the plugin answers as it does with an operator that has the same
// GraphView.
func TestLocalAgrees(t *testing.T) {
	s := shellOf(t, "admin")
	file := fixture.Manifest(t, fixture.Kubectl(t, cluster, "-n", namespace, "get", "graphview", "storefront", "-o", "yaml"))
	one := func(text string) string {
		text = strings.ReplaceAll(ageless(text), namespace+"/local", namespace+"/storefront")
		text = strings.ReplaceAll(text, `digraph "local"`, `digraph "storefront"`)
		text = columns.ReplaceAllString(text, "  ") // their width is that of the view's name
		return unaffected.ReplaceAllString(text, "\nN objects unaffected")
	}
	tests := map[string]struct{ operator, local []string }{
		"tree":         {[]string{"tree", "storefront"}, []string{"tree"}},
		"tree --all":   {[]string{"tree", "storefront", "--all"}, []string{"tree", "--all"}},
		"tree of one":  {[]string{"tree", "storefront", "pod/web-1"}, []string{"tree", "pod/web-1"}},
		"reverse tree": {[]string{"tree", "storefront", "cm/web", "--reverse"}, []string{"tree", "cm/web", "--reverse"}},
		"missing":      {[]string{"tree", "storefront", "--missing"}, []string{"tree", "--missing"}},
		"problems":     {[]string{"problems", "storefront"}, []string{"problems"}},
		"problems -o":  {[]string{"problems", "storefront", "-o", "json"}, []string{"problems", "-o", "json"}},
		"explain":      {[]string{"explain", "storefront", "pod/mailer"}, []string{"explain", "pod/mailer"}},
		"impact":       {[]string{"impact", "secret/token", "--in", "storefront"}, []string{"impact", "secret/token"}},
		"dot":          {[]string{"get", "storefront", "-o", "dot"}, []string{"get", "-o", "dot"}},
		"mermaid":      {[]string{"get", "storefront", "-o", "mermaid"}, []string{"get", "-o", "mermaid"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want, _, wantCode := s.run(t, tt.operator...)
			got, stderr, code := s.run(t, append(tt.local, "--local", "-f", file)...)
			if code != wantCode {
				t.Errorf("exit code %d, want %d: %s", code, wantCode, stderr)
			}
			if diff := cmp.Diff(one(want), one(got)); diff != "" {
				t.Errorf("(-operator +local):\n%s", diff)
			}
		})
	}
}

// TestLocalQueryAgrees: an ad-hoc query takes no operator.
func TestLocalQueryAgrees(t *testing.T) {
	s := shellOf(t, "admin")
	query := []string{"query", "--resources", "pods,sts,cm,secrets", "--root", "pod/mailer"}
	want := said(t, s, query...)
	if diff := cmp.Diff(want, said(t, s, append(query, "--local")...)); diff != "" {
		t.Errorf("(-operator +local):\n%s", diff)
	}
}

// TestExport: what export writes is served by an operator, has what its account may list, and is complete.
func TestExport(t *testing.T) {
	const installed = "plugin-installed"
	fixture.Kubectl(t, cluster, "create", "namespace", installed)
	fixture.KubectlAfter(t, cluster, "delete", "namespace", installed, "--wait=false")
	fixture.Kubectl(t, cluster, "-n", installed, "create", "configmap", "settings")
	fixture.Kubectl(t, cluster, "-n", installed, "create", "secret", "generic", "token")
	fixture.Kubectl(t, cluster, "-n", installed, "wait", "--for=create", "configmap/kube-root-ca.crt", "serviceaccount/default", fixture.Timeout())
	s := shellOf(t, "admin")
	s.namespace = installed
	fixture.KubectlApply(t, cluster, said(t, s, "export", "all"))
	fixture.KubectlApply(t, cluster, said(t, s, "export", "-A", "--service-account=reader"))
	fixture.KubectlAfter(t, cluster, "delete", "clusterrolebinding", "graphview-"+installed+"-reader")
	fixture.Kubectl(t, cluster, "-n", installed, "wait", "--for=condition=Complete", "graphview/all", "graphview/cluster", fixture.Timeout())
	want := said(t, s, "tree", "--local", "--as=system:serviceaccount:"+installed+":viewer", "--as-group=system:serviceaccounts", "--as-group=system:authenticated")
	objects := func(text string) string {
		before, _, _ := strings.Cut(text, "\n\n")
		return before
	}
	eventually(t, func() string { return cmp.Diff(objects(want), objects(said(t, s, "tree", "all"))) })
	if !strings.Contains(want, "ConfigMap/settings") || strings.Contains(objects(want), "Secret/token") {
		t.Errorf("the account may list ConfigMaps and no Secrets:\n%s", want)
	}
	for want, args := range map[string][]string{
		`"A" is not the NAME`:           {"export", "A"},
		"is not --service-account":      {"export", "--service-account", "a/b"},
		"expected at most the NAME of":  {"export", "a", "b"},
		"there is no GraphView in it":   {"export", "-f", "testdata/needs/crds.yaml"},
		"-f: open nosuch.yaml: no such": {"export", "-f", "nosuch.yaml"},
	} {
		if _, stderr, code := s.run(t, args...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, want 2, and %q in: %s", args, code, want, stderr)
		}
	}
}
