package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// source is where a command finds its graphs: at the server of the kubeconfig, or in this process with
// --local or --from. The Args and the RunE of the command are those of its source.
type source struct {
	cli *cli
	// insert adds the name of the local view to the arguments of a command that takes a NAME. It leaves
	// arguments that are about no view. Nil: the command takes no NAME.
	insert func(args []string) []string
	// adHoc reports whether the command describes its view with flags, and reads no GraphView from a file.
	adHoc bool
	// withoutManifests reports whether the command has no --from.
	withoutManifests bool
	// follows reports whether the command runs until it is interrupted, and follows the files of --from.
	follows bool
	// verdict reports whether the exit code depends on the graph, so that the command waits longer for each resource,
	// and has --allow.
	verdict bool
}

// runFunc is a cobra.Command.RunE.
type runFunc func(cmd *cobra.Command, args []string) error

// addFlags adds the flags of sources without an operator.
func (s *source) addFlags(cmd *cobra.Command) {
	flags, l := cmd.Flags(), &s.cli.local
	flags.BoolVar(&l.live, "local", false, "Look without an operator: list and watch with your own rights, in this process. -n takes several namespaces, as a,b")
	if !s.adHoc {
		flags.StringVarP(&l.file, "filename", "f", "", "With --local: a file with the GraphView to show, and any ReferenceRules")
	}
	if !s.withoutManifests {
		l.files.addFlags(flags, s.verdict)
	}
	if flags.Lookup("all-namespaces") == nil {
		flags.BoolVarP(&l.allNamespaces, "all-namespaces", "A", false, "With --local: all namespaces")
	}
}

// args checks the flags of the source, and then the arguments with check.
func (s *source) args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if s.cli.link != "" && s.cli.local.on() {
			return usagef(cmd, "--link %s: --local looks at the cluster of your kubeconfig; leave one of them out", s.cli.link)
		}
		if err := s.cli.checkManifestFlags(cmd); err != nil {
			return err
		}
		return check(cmd, s.arguments(args))
	}
}

// arguments are those of the command, with the name of the local view.
func (s *source) arguments(args []string) []string {
	if s.insert == nil || !s.cli.local.nameless() {
		return args
	}
	return s.insert(args)
}

// run serves the graphs of the source while next runs.
func (s *source) run(next runFunc) runFunc {
	return func(cmd *cobra.Command, args []string) error {
		l, all := &s.cli.local, s.arguments(args)
		within := func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return next(cmd, all)
		}
		switch {
		case l.live && s.insert != nil && len(all) == len(args):
			return next(cmd, args) // it is about no view
		case l.files.given():
			return s.runManifests(cmd, within)
		case l.on() && !l.live:
			return s.runViewWith(cmd, args, next)
		case l.on():
			// Its error is that there is no such flag.
			l.allNamespaces, _ = cmd.Flags().GetBool("all-namespaces")
			named, from, err := s.cli.readScope(cmd)
			if err != nil {
				return err
			}
			return s.runLocal(cmd, named, from, within)
		case l.file != "":
			return usagef(cmd, "-f is the GraphView of --local: add --local, or leave -f out")
		case l.allNamespaces:
			return usagef(cmd, "-A is for --local: a GraphView has its own namespaces")
		default:
			return next(cmd, args)
		}
	}
}

// patience returns the time for which the view waits for one resource. It is longer than the wait of the command for the
// view, so that a view without the resource does not count as complete.
func (s *source) patience() time.Duration {
	if !s.verdict {
		return 0
	}
	return s.cli.wait + time.Minute
}

// first inserts the name of the view before the arguments.
func first(args []string) []string { return slices.Insert(slices.Clone(args), 0, localName) }

// beforeObject is first for a command whose only argument may be a KIND, which is of no view.
func beforeObject(args []string) []string {
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		return args
	}
	return first(args)
}
