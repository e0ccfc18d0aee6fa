package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/client"
)

// addAt adds the flag for the graph as it was.
func addAt(cmd *cobra.Command, at *moment) {
	cmd.Flags().Var(at, "at", "The graph as it was: "+expectedMoment+", before now")
}

// checkAt returns an error if the source of the graph has no past.
func (c *cli) checkAt(cmd *cobra.Command, at moment) error {
	var reason string
	switch {
	case at.asked == "":
		return nil
	case c.local.read() != nil:
		reason = "manifests have no past"
	case c.local.serves():
		reason = "without an operator the history begins with this command"
	default:
		return nil
	}
	var words []string
	for i, word := range c.args {
		if word != "--at" && !strings.HasPrefix(word, "--at=") && (i == 0 || c.args[i-1] != "--at") {
			words = append(words, word)
		}
	}
	return typed(usagef(cmd, "%s: leave --at out", reason), words)
}

// past returns the graph of a view as it was.
func (v *view) past(ctx context.Context, at moment) (*client.Graph, error) {
	g, err := v.client.Snapshot(ctx, v.namespace, v.name, client.Options{Content: client.ContentSummary, ExcludeInferred: !v.inferred, At: at.asked})
	if err != nil {
		return nil, v.historyError(ctx, err)
	}
	return g, nil
}

// historyError is remedy for a question about the history.
func (v *view) historyError(ctx context.Context, err error) error {
	if client.IsHistoryOff(err) {
		return bare(err)
	}
	return v.remedy(ctx, err)
}
