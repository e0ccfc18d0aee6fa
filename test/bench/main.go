package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags of a whole run.
type options struct {
	shape                  shape
	runs                   int
	settle                 time.Duration
	document               string
	cpuProfile, memProfile string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start runs what the first argument names, or the whole benchmark.
func start(ctx context.Context, args []string) error {
	if len(args) > 1 {
		if measure, ok := children[args[1]]; ok {
			return serve(ctx, measure, args[1:])
		}
	}
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	return run(ctx, o)
}

// parse reads the command line of a whole run.
func parse(args []string, out io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	objects := flags.Int("objects", 13_000, "about how many objects; decides the number of namespaces")
	applications := flags.Int("applications", 50, "applications in each namespace")
	pods := flags.Int("pods", 20, "pods of each application")
	flags.IntVar(&o.runs, "runs", 3, "rounds, of which the table has the medians")
	flags.DurationVar(&o.settle, "settle", 5*time.Second, "from synced to the reading of the resident memory")
	flags.StringVar(&o.document, "document", "docs/benchmarks.md", "file whose table is replaced, from the module's root; empty: none")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of the engine's cold start, in a round of its own")
	flags.StringVar(&o.memProfile, "memprofile", "", "write a heap profile of the engine when it has settled, in the same round")
	if err := flags.Parse(args[1:]); err != nil {
		return o, err
	}
	if *objects < 1 || *applications < 1 || *pods < 1 || o.runs < 1 || flags.NArg() > 0 {
		return o, errors.New("there are only flags, and each count must be at least 1; see -help")
	}
	o.shape = shapeOf(*objects, *applications, *pods)
	return o, nil
}
