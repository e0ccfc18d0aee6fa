package command

import (
	"context"
	"fmt"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/advice"
)

// ineffective returns which parts of the GraphView have no effect. It is empty if there are none, or
// if the user may not read the GraphView.
func (v *view) ineffective(ctx context.Context) string {
	if v.local.serves() {
		return strings.Join(advice.Texts(v.local.cluster.Status().Advice), "; ")
	}
	declared, err := v.declaration(ctx)
	if err != nil {
		return ""
	}
	text, _ := declared.Ineffective()
	return text
}

// emptyText returns the reason why a graph has no object.
func emptyText(without string) string {
	if without == "" {
		return "nothing that it selects exists, or you may not see it"
	}
	return without
}

// checkEffect prints which parts of the GraphView have no effect. The error is errFound if the
// graph has no object.
func (c *cli) checkEffect(ctx context.Context, v *view, g *client.Graph) error {
	without := v.ineffective(ctx)
	switch {
	case len(g.Vertices) == 0:
		fmt.Fprintf(c.Out, "%s %s shows no object: %s\n", c.paint.Bad("Empty:"), v, emptyText(without))
		return errFound
	case without != "":
		fmt.Fprintf(c.Out, "%s %s\n", c.paint.Bad("Without effect:"), without)
	}
	return nil
}
