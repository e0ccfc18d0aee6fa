package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// target is the view, object or kind that the arguments of a command name.
type target struct {
	view   string // a GraphView
	object string // KIND/NAME or KIND/NAMESPACE/NAME
	kind   string // a KIND, of no view
}

// parser reads the arguments of a command.
type parser func(cmd *cobra.Command, args []string) (target, error)

// nothing reads no arguments.
func (c *cli) nothing(hint string) parser {
	return func(cmd *cobra.Command, args []string) (target, error) {
		if len(args) > 0 {
			return target{}, c.correct(usagef(cmd, "expected no arguments%s", hint), cmd, nil)
		}
		return target{}, nil
	}
}

// viewOnly reads [NAME].
func (c *cli) viewOnly(cmd *cobra.Command, args []string) (target, error) {
	switch {
	case len(args) == 0:
		return target{}, nil
	case len(args) > 1:
		return target{}, c.correct(usagef(cmd, "expected at most the NAME of one GraphView, and not %q", args[1]), cmd, args[:1])
	case strings.Contains(args[0], "/"):
		if err := c.asView(cmd, args[0]); err != nil {
			return target{}, err
		}
		return target{}, c.correct(usagef(cmd, "%q is an object, and %s takes the NAME of a GraphView; tree begins at an object", args[0], cmd.Name()), nil, append([]string{"tree"}, args...))
	}
	return target{view: args[0]}, nil
}

// viewAndObject reads [NAME] [KIND/NAME], in which KIND/NAME may be two arguments as for kubectl.
func (c *cli) viewAndObject(cmd *cobra.Command, args []string) (target, error) {
	slashes := func(i int) bool { return strings.Contains(args[i], "/") }
	switch n := len(args); {
	case n == 0:
		return target{}, nil
	case n == 1 && slashes(0):
		return target{object: args[0]}, nil
	case n == 1:
		return target{view: args[0]}, nil
	case n == 2 && slashes(0) && slashes(1):
		return target{}, c.correct(usagef(cmd, "expected one object, and not %q too", args[1]), cmd, args[:1])
	case n == 2 && slashes(0):
		return target{}, c.correct(usagef(cmd, "the NAME of a GraphView comes before the object"), cmd, []string{args[1], args[0]})
	case n == 2 && slashes(1):
		return target{view: args[0], object: args[1]}, nil
	case n == 2 && (c.local.nameless() || c.isKind(args[0])):
		return target{object: args[0] + "/" + args[1]}, nil
	case n == 2:
		return target{}, c.asObject(cmd, args[0], args[1])
	case n == 3 && !slashes(0) && !slashes(1) && !slashes(2) && c.isKind(args[0]) && !c.isKind(args[1]):
		err := usagef(cmd, "the NAME of a GraphView comes before the object")
		return target{}, c.correct(err, cmd, []string{args[2], args[0] + "/" + args[1]})
	case n == 3 && !slashes(0) && !slashes(1) && !slashes(2):
		return target{view: args[0], object: args[1] + "/" + args[2]}, nil
	}
	return target{}, c.correct(usagef(cmd, "expected at most the NAME of a GraphView and one KIND/NAME"), cmd, c.atMost(args))
}

// atMost returns the arguments that name a view and an object among too many.
func (c *cli) atMost(args []string) []string {
	object := slices.IndexFunc(args, func(word string) bool { return strings.Contains(word, "/") })
	switch {
	case object == 0, object == 1:
		return args[:object+1]
	case object > 0:
		return []string{args[0], args[object]}
	case c.isKind(args[0]) && !c.isKind(args[1]):
		return args[:2]
	default:
		return args[:3]
	}
}

// objectOrKind reads [NAME] KIND/NAME, or a KIND.
func (c *cli) objectOrKind(cmd *cobra.Command, args []string) (target, error) {
	if len(args) == 0 {
		return target{}, usagef(cmd, "expected KIND/NAME, such as deployment/web, or a KIND")
	}
	t, err := c.viewAndObject(cmd, args)
	if err == nil && t.object == "" {
		t = target{kind: t.view}
	}
	return t, err
}

// objectOnly reads [NAME] KIND/NAME, and requires the object.
func (c *cli) objectOnly(cmd *cobra.Command, args []string) (target, error) {
	t, err := c.viewAndObject(cmd, args)
	if err == nil && t.view != "" && t.object == "" {
		return t, c.asObject(cmd, "", t.view)
	}
	if err == nil && t.object == "" {
		return t, usagef(cmd, "expected KIND/NAME, such as deployment/web")
	}
	return t, err
}

// only returns the name of the view of a command: the named one, the only one of the namespace, or the only one there
// that has the object.
func (c *cli) only(ctx context.Context, cmd *cobra.Command, t target) (string, error) {
	switch {
	case c.local.serves():
		return localName, nil
	case t.view != "":
		return t.view, nil
	}
	graphs, err := c.listGraphs(ctx, false)
	if err != nil {
		return "", err
	}
	var names []string
	served := ""
	for i := range graphs {
		names = append(names, graphs[i].Name)
		if served == "" && graphs[i].Synced {
			served = graphs[i].Name
		}
	}
	namespace, err := c.namespace()
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	var object []string
	if t.object != "" {
		object = []string{t.object}
	}
	if len(names) == 0 {
		err := usagef(cmd, "there is no GraphView in namespace %s: name another namespace with -n, or look with your own rights", namespace)
		return "", c.correct(err, cmd, append(object, "--local"))
	}
	candidates := names
	if t.object != "" {
		err := c.asView(cmd, t.object)
		if err != nil || len(names) > 1 {
			having := c.having(ctx, names, t.object)
			switch {
			case len(having) > 0:
				candidates, served = having, having[0]
			case err != nil:
				return "", err
			}
		}
	}
	if len(candidates) == 1 {
		if !c.quiet {
			fmt.Fprintf(c.ErrOut, "In GraphView %s/%s.\n", namespace, candidates[0])
		}
		return candidates[0], nil
	}
	if served == "" {
		served = names[0]
	}
	return "", c.correct(usagef(cmd, "say in which GraphView to look: there are %s", strings.Join(candidates, ", ")), cmd, append([]string{served}, object...))
}

// having returns the views that have an object. A view that does not answer has none.
func (c *cli) having(ctx context.Context, names []string, object string) []string {
	var having []string
	for _, name := range names {
		v, err := c.open(name)
		if err != nil {
			return nil
		}
		key, err := v.keyOf(object)
		if err == nil {
			_, err = v.client.GetObject(ctx, v.namespace, name, key)
		}
		v.close()
		if err == nil {
			having = append(having, name)
		}
	}
	return having
}
