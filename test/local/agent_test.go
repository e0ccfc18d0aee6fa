package local

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"graphview.dev/test/fixture"
)

// TestAgent: an agent's tools answer from the one graph that lives as long as their process.
func TestAgent(t *testing.T) {
	ctx := context.WithoutCancel(t.Context()) // it is ended in order below
	command := exec.CommandContext(ctx, folder+"/kubectl-graphview", "mcp", "--local", "-n", "red,blue")
	command.Env = fixture.Shell(t, cluster, people()["two"].config, folder)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v0"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: command, TerminateDuration: within}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server did not end in order: %v", err)
		}
	})
	for tool, tt := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"graphs":   {nil, "local"},
		"tree":     {map[string]any{"graph": "local"}, "StatefulSet/blue/web"},
		"problems": {nil, "ConfigMap/red/mailer"},
		"explain":  {map[string]any{"graph": "local", "object": "pod/mailer"}, "MISSING"},
		"impact":   {map[string]any{"object": "configmap/web"}, "cannot start again"},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: tt.arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		text := ""
		for _, content := range result.Content {
			if part, ok := content.(*mcp.TextContent); ok {
				text += part.Text
			}
		}
		if result.IsError || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q is not in\n%s", tool, tt.want, text)
		}
	}
}
