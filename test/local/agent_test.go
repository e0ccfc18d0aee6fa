package local

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"graphview.dev/test/fixture"
)

// agent starts an agent's server with the rights of the person. It ends in order when the test ends.
func (p person) agent(ctx context.Context, t *testing.T) *mcp.ClientSession {
	t.Helper()
	command := exec.CommandContext(ctx, folder+"/kubectl-graphview", append([]string{"mcp", "--local", "-n", "red,blue"}, p.flags...)...)
	command.Env = fixture.Shell(t, cluster, p.config, folder)
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
	return session
}

// call calls a tool and returns its text.
func call(ctx context.Context, t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text, result.IsError
}

// TestAgent: an agent's tools answer from the one graph that lives as long as their process.
func TestAgent(t *testing.T) {
	ctx := context.WithoutCancel(t.Context()) // it is ended in order
	session := people()["two"].agent(ctx, t)
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
		if text, isError := call(ctx, t, session, tool, tt.arguments); isError || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q is not in\n%s", tool, tt.want, text)
		}
	}
}
