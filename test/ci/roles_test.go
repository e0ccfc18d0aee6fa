package ci

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestRolesAreDocumented: docs/operations.md has each ClusterRole that is installed, its rights, and its subjects. The
// chart has the same, see TestSameAsKustomize.
func TestRolesAreDocumented(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config", "rbac", "*.yaml"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%q %v", files, err)
	}
	roles, bound := map[string]rbacv1.ClusterRole{}, map[string][]rbacv1.Subject{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			if err := yaml.Unmarshal(document, &role); err == nil && role.Kind == "ClusterRole" {
				roles[role.Name] = role
			}
			var binding rbacv1.RoleBinding // a ClusterRoleBinding has the same fields
			if err := yaml.Unmarshal(document, &binding); err == nil && strings.HasSuffix(binding.Kind, "RoleBinding") && binding.RoleRef.Kind == "ClusterRole" {
				bound[binding.RoleRef.Name] = append(bound[binding.RoleRef.Name], binding.Subjects...)
			}
		}
	}

	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| ClusterRole | for | bound by default |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		name := strings.Trim(cells[0], "` ")
		documented[name] = true
		role := roles[name]
		var aggregated []string
		for label := range role.Labels {
			if to, ok := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); ok {
				aggregated = append(aggregated, to)
			}
		}
		if slices.Contains(aggregated, "view") { // which Kubernetes makes a part of edit, and edit of admin
			aggregated = append(aggregated, "edit", "admin")
		}
		slices.Sort(aggregated)
		// graphview-manager is the operator's own. All others are for users.
		switch who := cells[2]; {
		case name == "graphview-manager":
			if diff := cmp.Diff([]rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: "graphview-system"}}, bound[name]); diff != "" {
				t.Errorf("%s is bound to (-want +got):\n%s", name, diff)
			}
			continue
		case strings.HasPrefix(who, "to nobody"):
			if len(bound[name]) > 0 || len(aggregated) > 0 {
				t.Errorf("%s is bound to %v, and a part of %v: %s", name, bound[name], aggregated, who)
			}
		default:
			said := regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(who, -1)
			var want []string
			for _, to := range said {
				want = append(want, to[1])
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, aggregated); diff != "" || len(bound[name]) > 0 {
				t.Errorf("%s is bound to %v, and a part of (-documented +config):\n%s", name, bound[name], diff)
			}
		}
		for _, rule := range role.Rules {
			for _, resource := range slices.Concat(rule.Resources, rule.NonResourceURLs) {
				word := strings.NewReplacer("graphviews/status", "GraphViews", "graphviews", "GraphViews", "referencerules/status", "ReferenceRules",
					"referencerules", "ReferenceRules", "clusterlinks", "ClusterLinks").Replace(resource)
				if !strings.Contains(cells[1], word) {
					t.Errorf("docs/operations.md does not say that %s grants %s of %s", name, rule.Verbs, resource)
				}
			}
			if slices.Contains(rule.Resources, "*") || slices.Contains(rule.Verbs, "*") || slices.Contains(rule.APIGroups, "*") {
				t.Errorf("%s grants everything of something: %v", name, rule)
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(roles)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("-installed +documented:\n%s", diff)
	}
}

// TestRightsAreDocumented: the table of docs/security.md has each right of the operator. TestInstalled tries them with the
// operator's token.
func TestRightsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "rbac", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| right | where | why | worth to a thief |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	names := map[string]string{
		"*": "of everything", "graphviews": "of GraphViews", "referencerules": "ReferenceRules", "clusterlinks": "ClusterLinks", "graphviews/status": "status",
		"referencerules/status": "status", "clusterlinks/status": "status", "events": "of Events", "apiservices": "APIService",
		"validatingwebhookconfigurations": "ValidatingWebhookConfiguration", "secrets": "the Secret `graphview-certificates`", "leases": "of Leases",
	}
	rights := 0
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var role rbacv1.ClusterRole // a Role has the same fields
		if err := yaml.Unmarshal(document, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights++
					name := names[resource]
					documented := name != "" && slices.ContainsFunc(strings.Split(table, "\n"), func(row string) bool {
						right, _, _ := strings.Cut(row, " | ")
						return strings.Contains(right, "`"+verb+"`") && strings.Contains(right, name)
					})
					if !documented {
						t.Errorf("docs/security.md lacks the right %s of %s", verb, resource)
					}
				}
			}
			if narrow := rule.ResourceNames; len(narrow) == 0 && slices.ContainsFunc(rule.Resources, func(r string) bool {
				return r == "secrets" || r == "apiservices" || r == "validatingwebhookconfigurations"
			}) {
				t.Errorf("the right to %s is not restricted by name", rule.Resources)
			}
		}
	}
	if rights < 20 {
		t.Errorf("the operator has %d rights", rights)
	}
}
