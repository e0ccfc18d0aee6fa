package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/graphview/printable"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnknown     = 3 // of problems
	exitInterrupted = 130
)

// cli has the flags and the streams of all commands.
type cli struct {
	genericiooptions.IOStreams
	config *genericclioptions.ConfigFlags
	mapper func() (meta.RESTMapper, error) // kinds and resources of the server
	paint  paint
	wait   time.Duration
	// inferred reports whether graphs have references that are only inferred.
	inferred bool
	quiet    bool // no progress messages
	// revisions are those of the graphs that were read, by name, for an agent; nil without one.
	revisions *sync.Map
	local     localView
	link      string // the ClusterLink whose graphs are shown; "" for those of the server
	allLinks  bool   // the graphs of all ClusterLinks are shown
	args      []string
	command   *cobra.Command // that runs
	// waits reports whether the user said how long to wait.
	waits bool
}

func newCLI(streams genericiooptions.IOStreams) *cli {
	streams.Out, streams.ErrOut = newScreen(streams.Out), newScreen(streams.ErrOut)
	c := &cli{IOStreams: streams, config: genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(50)}
	c.mapper, c.paint = c.config.ToRESTMapper, paintFor(streams.Out)
	return c
}

const overview = `Look at the graphs that GraphViews declare: what an application is made of, what
uses what, and what is missing. It asks the server of your kubeconfig, and shows
what you may list and watch yourself.

Arguments are the NAME of a GraphView, if there are several in the namespace, and an
object: KIND/NAME or KIND NAME, or KIND/NAMESPACE/NAME where it is in another
namespace than the view. Where no operator serves graphs, commands list and watch
with your own rights, as with --local.

Exit codes: 0 done, also when Ctrl-C ends a watch; 1 failed, or found something
invalid; 2 used in a wrong way, or a manifest that cannot be read; 3 problems
does not know; 130 interrupted.`

// Run runs a command line and returns the exit code.
func Run(ctx context.Context, version string, args []string, streams genericiooptions.IOStreams) int {
	c := newCLI(streams)
	return c.exitCode(ctx, c.execute(ctx, version, args))
}

// execute runs a command line.
func (c *cli) execute(ctx context.Context, version string, args []string) error {
	c.args = args
	root := &cobra.Command{
		Use:   "kubectl-graphview",
		Short: "Look at the graphs of GraphViews",
		Long:  overview,
		Example: `  kubectl graphview tree storefront -n shop
  kubectl graphview explain storefront pod/web-0 -n shop
  kubectl graphview validate -f manifests/ -R`,
		Version:       version,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl graphview"},
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			c.command, c.waits = cmd, cmd.Flags().Changed("wait")
			return c.refuseLists(cmd, args)
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return c.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.ErrOut)
	c.config.AddFlags(root.PersistentFlags())
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(c.flagError)
	root.AddCommand(c.dashboard(), c.tree(), c.described(), c.problems(), c.impact(), c.explain(), c.changes(), c.list(), c.watch(), c.get(), c.query(), c.create(), c.export(), c.rule(), c.validate(), c.mcp(version), c.check(), c.connect(), c.version(version))
	c.complete(root)
	if cmd, _, err := root.Find(args); err == nil && cmd != root {
		if err := c.singleDash(cmd); err != nil {
			return err
		}
	}
	return c.withoutServer(root.ExecuteContext(ctx))
}

func (c *cli) exitCode(ctx context.Context, err error) int {
	var wrong *usageError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, errFound):
		return exitFailed // the command has printed the reason
	case errors.Is(err, errUnknown):
		c.tell(err)
		return exitUnknown
	case errors.As(err, &wrong):
		if c.tell(err) == "" {
			fmt.Fprintf(c.ErrOut, "See '%s --help'.\n", wrong.command)
		}
		return exitUsage
	default:
		c.tell(err)
		return exitFailed
	}
}

// tell prints an error, and the command that would work, which it returns.
func (c *cli) tell(err error) (try string) {
	fmt.Fprintf(c.ErrOut, "error: %s\n", errorText(err))
	if better, ok := errors.AsType[*correction](err); ok {
		fmt.Fprintf(c.ErrOut, "Try: %s\n", printable.Text(better.try))
		return better.try
	}
	return ""
}

// errFound is the error of a command that found problems and has printed them.
var errFound = errors.New("found")

// errUnknown is the error of a command without a complete answer.
var errUnknown = errors.New("not known")

// unknownError is an errUnknown with its reason.
type unknownError struct{ error }

func (e unknownError) Unwrap() error        { return e.error }
func (e unknownError) Is(target error) bool { return target == errUnknown }

// usageError is an error of the command line.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{command: cmd.CommandPath(), err: fmt.Errorf(format, args...)}
}

// between accepts from least to most arguments.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef(cmd, "expected %s", what)
		}
		return nil
	}
}

// addInferred adds the flag that leaves inferred references out.
func (c *cli) addInferred(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.inferred, "inferred", true, "References that are only inferred; false leaves them out")
}

// addWait adds the flag that bounds the wait for a graph.
func (c *cli) addWait(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.wait, "wait", time.Minute, "How long to wait for a graph that is not complete, and for a server that is not ready; without it at most 5s for an operator that the API server does not reach")
}
