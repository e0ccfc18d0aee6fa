package plugin

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/stream/format"
)

// TestOutput compares the output and the exit codes of the plugin for several users.
func TestOutput(t *testing.T) {
	tests := map[string]struct {
		user string
		args []string
	}{
		"tree":                 {"admin", []string{"tree", "storefront"}},
		"tree_all":             {"admin", []string{"tree", "storefront", "--all"}},
		"tree_without_secrets": {"alice", []string{"tree", "storefront"}},
		"tree_depth":           {"admin", []string{"tree", "storefront", "--depth=1"}},
		"tree_one":             {"admin", []string{"tree", "storefront", "pod/web-1"}},
		"tree_reverse":         {"admin", []string{"tree", "storefront", "--reverse"}},
		"tree_reverse_one":     {"admin", []string{"tree", "storefront", "cm/web", "--reverse"}},
		"tree_missing":         {"admin", []string{"tree", "storefront", "--missing"}},
		"tree_no_such_object":  {"admin", []string{"tree", "storefront", "pod/wep-1"}},
		"tree_no_such_kind":    {"admin", []string{"tree", "storefront", "gizmo/web-1"}},
		"explain_pod":          {"admin", []string{"explain", "storefront", "pod/mailer"}},
		"explain_missing":      {"alice", []string{"explain", "storefront", "configmap/mailer"}},
		"explain_shared":       {"alice", []string{"explain", "storefront", "cm/web"}},
		"explain_kind":         {"admin", []string{"explain", "sts"}},
		"explain_kind_unread":  {"mallory", []string{"explain", "pods"}},
		"similar_name":         {"alice", []string{"tree", "storefrnt"}},
		"other_names":          {"alice", []string{"tree", "quite-different"}},
		"other_namespace":      {"admin", []string{"tree", "storefront", "-n", "default"}},
		"forbidden":            {"mallory", []string{"tree", "storefront"}},
		"not_accepted":         {"admin", []string{"tree", "wrong"}},
		"list_forbidden":       {"mallory", []string{"list"}},
		"list_forbidden_all":   {"mallory", []string{"list", "-A"}},
		"impact_forbidden":     {"mallory", []string{"impact", "cm/mailer"}},
		"folder":               {"admin", []string{"tree", "testdata"}},
		"get_unknown_format":   {"admin", []string{"get", "storefront", "-o", "png"}},
		"get_forbidden":        {"mallory", []string{"get", "storefront"}},
		"query":                {"alice", []string{"query", "--resources", "pods,sts,cm,secrets", "--root", "pod/mailer"}},
		"query_reverse":        {"alice", []string{"query", "--resources", "pods,sts,cm,deploy", "--root", "cm/web", "--reverse"}},
		"query_no_such_root":   {"alice", []string{"query", "--root", "pod/nope"}},
		"impact":               {"alice", []string{"impact", "cm/mailer"}},
		"impact_in":            {"admin", []string{"impact", "secret/token", "--in", "storefront"}},
		"impact_used":          {"admin", []string{"impact", "cm/unselected"}},
		"impact_none":          {"alice", []string{"impact", "pod/mailer"}},
		"problems":             {"admin", []string{"problems", "storefront"}},
		"problems_of_all":      {"admin", []string{"problems"}},
		"query_selector":       {"alice", []string{"query", "--resources", "pods", "-l", "app=web", "--cel", "name == 'web-1'"}},
		"query_forbidden":      {"mallory", []string{"query", "--resources", "pods"}},
		"query_wrong":          {"alice", []string{"query", "--cel", "nam == 'x'"}},
		"query_no_such":        {"alice", []string{"query", "--resources", "gizmos"}},
		"nobody_listens":       {"admin", []string{"tree", "storefront", "-s", "https://127.0.0.1:1"}},
		"too_many_arguments":   {"admin", []string{"watch", "a", "b"}},
		"validate":             {"admin", []string{"validate", "-f", "testdata/manifests", "-R"}},
		"check":                {"admin", []string{"check", "--pre"}},
		"check_rights":         {"mallory", []string{"check", "--pre"}},
		"check_what":           {"admin", []string{"check"}},
		"version":              {"alice", []string{"version"}},
		"version_unreached":    {"alice", []string{"version", "-s", "https://127.0.0.1:1"}},
		"complete_view":        {"alice", []string{"__complete", "tree", "s"}},
		"complete_object":      {"alice", []string{"__complete", "explain", "storefront", "pod/"}},
		"complete_format":      {"alice", []string{"__complete", "get", "storefront", "-o", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := shellOf(t, test.user).run(t, test.args...)
			head := fmt.Sprintf("$ kubectl graphview %s   # as %s\n", strings.Join(test.args, " "), test.user)
			// An administrator is also shown the objects of other tests.
			stdout = unaffected.ReplaceAllString(stdout, "\nN objects unaffected")
			golden(t, name, head+transcript(stdout, stderr, code))
		})
	}
}

var unaffected = regexp.MustCompile(`\n\d+ objects unaffected`)

// TestDescribe: describe prints a GraphView and its problems on one screen, to every user
// that may read it.
func TestDescribe(t *testing.T) {
	for name, test := range map[string]struct {
		user, view string
		want       []string
		wantCode   int
	}{
		"an administrator": {"admin", "storefront", []string{"GraphView plugin-shop/storefront", "Healthy    False    MissingReferences", "ConfigMap/mailer", "referred to by Pod/mailer", "pods 3"}, 0},
		"without Secrets":  {"alice", "storefront", []string{"ConfigMap/mailer", "You may not list and watch 1 resource of the graph"}, 0},
		"not accepted":     {"admin", "wrong", []string{"Accepted   False    InvalidExpression: spec.queries[0].include.resourceSelectorExpression", "Problems are not known"}, 0},
		"nobody":           {"mallory", "storefront", []string{"forbidden", "--clusterrole=graphview-viewer"}, 1},
		"no such view":     {"admin", "storefrnt", []string{"did you mean storefront?"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			// The status has counts that follow some seconds later.
			eventually(t, func() string {
				stdout, stderr, code := shellOf(t, test.user).run(t, "describe", test.view)
				if code != test.wantCode {
					return fmt.Sprintf("exit code %d: %s%s", code, stdout, stderr)
				}
				if n := strings.Count(stdout, "\n"); n > 50 {
					return fmt.Sprintf("%d lines:\n%s", n, stdout)
				}
				for _, want := range test.want {
					if !strings.Contains(stdout+stderr, want) {
						return fmt.Sprintf("%q is not in\n%s%s", want, stdout, stderr)
					}
				}
				return ""
			})
		})
	}
}

// TestGet: get prints the server's answer.
func TestGet(t *testing.T) {
	path := "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace + "/graphs/storefront?format="
	formats := []string{"json"}
	for _, f := range format.All() {
		formats = append(formats, string(f))
	}
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			s := shellOf(t, "alice")
			got, stderr, code := s.run(t, "get", "storefront", "-o", format)
			if code != 0 {
				t.Fatal(stderr)
			}
			raw := exec.CommandContext(t.Context(), cluster.KubectlPath(), "get", "--raw", path+format)
			raw.Env = s.env
			want, err := raw.Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(steady(string(want)), steady(got)); diff != "" {
				t.Errorf("(-server +plugin):\n%s", diff)
			}
			if !strings.Contains(got, "mailer") || strings.Contains(got, "token\\nsecrets") {
				t.Errorf("not what alice may see: %s", got)
			}
		})
	}
}

// steady leaves out what differs between two answers: order, and the rev.
func steady(text string) string {
	var message struct {
		Actions []json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		return text
	}
	var all []string
	for _, action := range message.Actions {
		all = append(all, string(action))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A server that streams writes no formats; the plugin does.
func TestQueryFormats(t *testing.T) {
	wants := map[string]string{"json": `"synced":true`, "dot": "digraph", "mermaid": "flowchart", "graphml": "<graphml", "html": `"view":"plugin-shop/query"`, "table": "OBJECT "}
	for _, f := range format.All() {
		if wants[string(f)] == "" {
			t.Errorf("%s: say in wants what such a text has in it", f)
		}
	}
	for format, want := range wants {
		t.Run(format, func(t *testing.T) {
			stdout, stderr, code := shellOf(t, "alice").run(t, "query", "--resources", "pods,cm", "--root", "pod/mailer", "-o", format)
			if code != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, "mailer") || strings.Contains(stdout, "web-0") {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
		})
	}
}
