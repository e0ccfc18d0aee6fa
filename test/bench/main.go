package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"graphview.dev/test/must"
)

// options are the flags of a whole run.
type options struct {
	shape    shape
	rows     []int // of the table; empty: all
	runs     int
	settle   time.Duration
	period   time.Duration // that rows with a load measure for
	stopped  time.Duration // that a reader stands still for
	document string
	profiles string
	fresh    bool
	alone    bool // without the peers of rows 1 to 3
}

func main() {
	must.Main("bench", func(ctx context.Context) {
		if len(os.Args) == 3 && os.Args[1] == childArgument {
			serve(ctx, os.Args[2])
			return
		}
		o, err := parse(os.Args, os.Stderr)
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		must.Do(err)
		run(ctx, o)
	})
}

// parse reads the command line of a whole run.
func parse(args []string, out io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	objects := flags.Int("objects", 100_000, "about how many objects; decides the number of namespaces")
	applications := flags.Int("applications", 50, "applications in each namespace")
	pods := flags.Int("pods", 20, "pods of each application")
	rows := flags.String("rows", "", "rows of the table to measure, such as 4,9; empty: all")
	flags.IntVar(&o.runs, "runs", 3, "rounds of rows 1 to 3, of which the table has the medians")
	flags.DurationVar(&o.settle, "settle", 5*time.Second, "from synced to the reading of the resident memory")
	flags.DurationVar(&o.period, "period", 20*time.Second, "how long rows 4 and 9 keep their load up; row 12 is idle for three times that")
	flags.DurationVar(&o.stopped, "stopped", time.Minute, "how long the readers of row 10 stand still; its goal speaks of 10m")
	flags.StringVar(&o.document, "document", "docs/measured/benchmarks.md", "file whose table is replaced if all rows were measured, from the module's root; empty: none")
	flags.StringVar(&o.profiles, "profiles", "", "file whose tables of profiles are replaced, such as docs/measured/benchmarks.md, from the module's root; the profiles themselves go to bin/bench; empty: none")
	flags.BoolVar(&o.alone, "alone", false, "leave out the peers of rows 1 to 3, which take most of the time; the document is then left as it is")
	flags.BoolVar(&o.fresh, "fresh", false, "make the load anew, even if bin/bench has one of this size")
	if err := flags.Parse(args[1:]); err != nil {
		return o, err
	}
	if *objects < 1 || *applications < 1 || *pods < 1 || o.runs < 1 || o.period < time.Second || o.stopped < time.Second || flags.NArg() > 0 {
		return o, errors.New("there are only flags, each count must be at least 1 and each duration 1s; see -help")
	}
	o.shape = shapeOf(*objects, *applications, *pods)
	var err error
	o.rows, err = rowsOf(*rows)
	return o, err
}

// lastRow is the number of rows that the table has.
const lastRow = 15

// rowsOf reads a list of rows, all of them if it is empty.
func rowsOf(list string) (rows []int, err error) {
	if list == "" {
		for row := range lastRow {
			rows = append(rows, row+1)
		}
		return rows, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		row, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || row < 1 || row > lastRow {
			return nil, fmt.Errorf("-rows %q: want numbers of 1 to %d, separated by commas", list, lastRow)
		}
		rows = append(rows, row)
	}
	slices.Sort(rows)
	return slices.Compact(rows), nil
}
