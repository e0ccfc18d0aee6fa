package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"graphview.dev/client"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
)

func (c *cli) rule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rule",
		Short: "Write ReferenceRules",
		Long:  "Write ReferenceRules: what the objects of a kind refer to, where nothing but their author knows it.",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new KIND",
		Short: "Write a ReferenceRule from what is known of a kind",
		Long: `Write a ReferenceRule that declares which fields of a kind are references, as far as
its schema and the conventions say so. What is sure is declared, what is not is a
comment. Read it, correct it, and add what is missing.`,
		Example: `  kubectl graphview rule new certificates.cert-manager.io > rule.yaml
  kubectl graphview validate -f rule.yaml`,
		Args: between(1, 1, "a KIND"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.newRule(cmd.Context(), args[0]) },
	})
	return cmd
}

// newRule writes a rule of a kind.
func (c *cli) newRule(ctx context.Context, text string) error {
	v, err := c.open("")
	if err != nil {
		return err
	}
	defer v.close()
	k := c.newKinds(v.namespace, &client.Graph{})
	found, err := k.resource(text)
	if err != nil {
		return err
	}
	kind := graph.Kind{Group: found.Group, Kind: k.kind(client.Key{Group: found.Group, Resource: found.Resource})}
	read, err := readReferences(ctx, v.config, kind)
	if err != nil {
		return err
	}
	if read.unread != nil {
		fmt.Fprintf(c.ErrOut, "The schema of %s is not known, and the rule is of what keys alone say: %s\n", kind.Kind, errorText(bare(read.unread)))
	}
	return writeRule(c.Out, found.Resource, kind, read)
}

// mostDeclared is the most references of a ReferenceRule.
const mostDeclared = 32

// writeRule writes the manifest of a rule: certain references, and uncertain ones as comments.
func writeRule(out io.Writer, resource string, kind graph.Kind, read kindReferences) error {
	name, group := resource, ""
	if kind.Group != "" {
		name += "." + kind.Group
		group = "group: " + scalar(kind.Group) + ", "
	}
	targets := map[string]int{} // the number of kinds that a field may refer to
	for _, e := range read.all {
		targets[e.Path]++
	}
	var sure, unsure, known strings.Builder
	declared := 0
	for _, e := range read.all {
		reference, ok := declaration(read.schema, e)
		switch {
		case e.Source == refs.ByTable:
			known.WriteString(comment("- %s: %s", e.Path, e.To))
		case !ok:
			known.WriteString(comment("- %s: %s, %s", e.Path, e.To, howRead(e)))
		case e.Inferred, targets[e.Path] > 1, declared == mostDeclared:
			unsure.WriteString("  " + comment("%s", howRead(e)) + commented(reference))
		default:
			declared++
			sure.WriteString("  " + comment("%s", howRead(e)) + reference)
		}
	}
	if declared == 0 {
		sure.WriteString("  # Nothing is sure: put a reference in the place of this one, which finds nothing.\n  - expression: \"[]\"\n")
	}
	text := comment("What the objects of %s refer to, as far as it can be read. Correct it, and add what is missing.", kind.Kind+dotted(kind.Group))
	if known.Len() > 0 {
		text += "#\n# These are known without a rule, and stay:\n" + known.String()
	}
	text += "apiVersion: graphview.dev/v1alpha1\nkind: ReferenceRule\nmetadata:\n  name: " + scalar(name) +
		"\nspec:\n  from: {" + group + "kind: " + scalar(kind.Kind) + "}\n" +
		"  # Keep: of fields that are not named here, conventions say what they did before.\n  # Replace: they say nothing of the kind any more.\n  conventions: Keep\n" +
		"  # Declared, a reference is required: what it names and does not exist counts as missing.\n  references:\n" + sure.String()
	if unsure.Len() > 0 {
		text += "  # These are not sure, or did not fit.\n" + unsure.String()
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// declaration returns the declaration of a reference in a rule, and false for a reference that a path cannot express:
// a selector, or a kind that the object itself names.
func declaration(of *schema.Schema, e refs.Explained) (string, bool) {
	group, kind, ok := strings.Cut(e.To, "/")
	if !ok || e.Selector || strings.Contains(e.To, "{") || refs.CheckPath(e.Path) != nil {
		return "", false
	}
	path, holder := e.Path, ""
	switch at := refs.SchemaAt(of, path); {
	case at.Has("name"):
		path, holder = path+".name", path
	case strings.HasSuffix(path, ".name"):
		holder = strings.TrimSuffix(path, ".name")
	}
	to := "kind: " + scalar(kind)
	if group != "core" {
		to = "group: " + scalar(group) + ", " + to
	}
	text := fmt.Sprintf("  - path: %s\n    to: {%s}\n", scalar(path), to)
	if holder != "" && refs.SchemaAt(of, holder).Has("namespace") {
		text += fmt.Sprintf("    namespacePath: %s\n", scalar(holder+".namespace"))
	}
	if e.Type == graph.Transitive {
		text += "    type: t\n"
	}
	return text, true
}

// scalar returns a text as a scalar of YAML, quoted if necessary, so that texts from a cluster's schemas and names
// cannot change the manifest.
func scalar(text string) string {
	var read any
	plain := !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
	if plain && yaml.Unmarshal([]byte(text), &read) == nil && read == text {
		return text
	}
	return strconv.Quote(text)
}

// comment returns a comment of one line, also if the arguments have line breaks.
func comment(form string, about ...any) string {
	return "# " + printable.Text(fmt.Sprintf(form, about...)) + "\n"
}

// commented puts the lines of a list's element into comments.
func commented(text string) string {
	return "  # " + strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "  "), "\n"), "\n  ", "\n  # ") + "\n"
}
