package plugin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentOf is a client of the plugin's tools, started as agents do, with the rights of
// a user.
func agentOf(t *testing.T, user string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v0"}, nil)
	ctx := context.WithoutCancel(t.Context()) // it is ended in order below
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: shellOf(t, user).command(ctx, "mcp"), TerminateDuration: within}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server did not end in order: %v", err)
		}
	})
	return session
}

// ask calls a tool.
func ask(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text, result.IsError
}

// TestAgent: a client of the protocol's own SDK asks what there is, what is wrong,
// why, and what depends on it.
func TestAgent(t *testing.T) {
	admin := agentOf(t, "admin")
	tools, err := admin.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s does not say that it changes nothing", tool.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"changes", "explain", "graphs", "impact", "problems", "tree"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	sessions := map[string]*mcp.ClientSession{"admin": admin, "alice": agentOf(t, "alice"), "mallory": agentOf(t, "mallory")}
	for name, test := range map[string]struct {
		user, tool string
		arguments  map[string]any
		want, not  []string
		wantFailed bool
	}{
		"what graphs are there": {"admin", "graphs", map[string]any{"allNamespaces": true}, []string{"NAMESPACE", namespace, "storefront"}, nil, false},
		"what is wrong":         {"admin", "problems", map[string]any{"graph": "storefront"}, []string{"ConfigMap/mailer", "missing", "Pod/web-0"}, []string{"error"}, false},
		"what is wrong in all":  {"admin", "problems", nil, []string{"ConfigMap/mailer", "error: get graph plugin-shop/wrong"}, nil, false},
		"what is it made of":    {"admin", "tree", map[string]any{"graph": "storefront"}, []string{"StatefulSet/web", "reads env of Secret/token", "MISSING"}, []string{"waiting for"}, false},
		"of what is one object": {"admin", "tree", map[string]any{"graph": "storefront", "object": "pod/mailer", "depth": 1}, []string{"Pod/mailer", "ConfigMap/mailer"}, []string{"StatefulSet"}, false},
		"why does it not start": {"admin", "explain", map[string]any{"graph": "storefront", "object": "pod/mailer"}, []string{"MISSING: it does not exist", "spec.containers[].envFrom[].configMapRef.name"}, nil, false},
		"what would notice":     {"admin", "impact", map[string]any{"object": "cm/web", "graph": "storefront"}, []string{"Deleting ConfigMap/web", "deleted (1)"}, nil, false},
		"what has changed":      {"admin", "changes", map[string]any{"graph": "storefront", "object": "sts/web", "since": "1h"}, []string{"The history is complete since"}, nil, false},
		"since no time":         {"admin", "changes", map[string]any{"since": "yesterday"}, []string{"--since yesterday: expected"}, nil, true},
		"with a user's rights":  {"alice", "tree", map[string]any{"graph": "storefront"}, []string{"StatefulSet/web", "Left out, since you may not list it"}, []string{"Secret/token"}, false},
		"without rights":        {"mallory", "tree", map[string]any{"graph": "storefront"}, []string{"forbidden", "graphview-viewer"}, nil, true},
		"a name that is a flag": {"admin", "tree", map[string]any{"graph": "--kubeconfig=null"}, []string{`there is no GraphView "--kubeconfig=null"`}, nil, true},
		"a namespace of flags":  {"admin", "tree", map[string]any{"graph": "storefront", "namespace": "x --all"}, []string{"x --all"}, []string{"StatefulSet"}, true},
		"no such object":        {"admin", "explain", map[string]any{"graph": "storefront", "object": "pod/wep-1"}, []string{"did you mean"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := ask(t, sessions[test.user], test.tool, test.arguments)
			if failed != test.wantFailed {
				t.Errorf("failed is %v", failed)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in\n%s", not, got)
				}
			}
		})
	}
}
