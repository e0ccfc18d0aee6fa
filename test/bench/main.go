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
	period   time.Duration // of the load of rows 4, 9 and 13
	document string
	audience int // subscribers of row 9
	rate     int // events a second of row 9
	busy     int // programs that spin on all processors during the load of rows 4 and 9
	fresh    bool

	multiplied int  // objects of row 16
	alone      bool // without the peers of rows 1 and 3
	// beside is the directory of another commit whose programs are measured too; empty: none.
	beside string
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
	list := flags.String("rows", "", "rows of the table to measure, such as 4,9; empty: all")
	flags.IntVar(&o.runs, "runs", 3, "rounds of rows 1 and 3, of which the table has the medians")
	flags.DurationVar(&o.settle, "settle", 5*time.Second, "from synced to the reading of the resident memory")
	flags.DurationVar(&o.period, "period", 20*time.Second, "how long rows 4 and 9 keep their load up; row 13 takes half of it for each measure")
	flags.IntVar(&o.audience, "subscribers", 1000, "subscribers of row 9")
	flags.IntVar(&o.rate, "rate", 1000, "events a second of row 9; 10,000 subscribers of 1,000 events would read a gigabyte a second")
	flags.IntVar(&o.busy, "busy", 0, "other programs that spin on all processors during the load of rows 4 and 9: 1 leaves about a half of the machine, 3 a quarter; with any the document is left as it is")
	flags.StringVar(&o.document, "document", "docs/measured/benchmarks.md", "file whose table is replaced if all rows were measured, from the module's root; empty: none")
	flags.IntVar(&o.multiplied, "multiplied", 1_000_000, "about how many objects row 16 has, copies of the others")
	flags.BoolVar(&o.alone, "alone", false, "leave out the peers of rows 1 and 3, which take most of the time; the document is then left as it is")
	flags.StringVar(&o.beside, "beside", "", "`directory` of another commit, such as one made with git worktree add: its programs are measured "+
		"in each row after those of this one, in the same run against the same API server; the document is then left as it is")
	flags.BoolVar(&o.fresh, "fresh", false, "make the load again, even if bin/bench has one of this size")
	if err := flags.Parse(args[1:]); err != nil {
		return o, err
	}
	if *objects < 1 || *applications < 1 || *pods < 1 || o.runs < 1 || o.period < time.Second || o.audience < 200 || o.rate < 1 || o.busy < 0 || flags.NArg() > 0 {
		return o, errors.New("there are only flags, each count must be at least 1, of subscribers 200, and the period 1s; see -help")
	}
	o.shape = shapeOf(*objects, *applications, *pods)
	var err error
	o.rows, err = rowsOf(*list)
	return o, err
}

// rowsOf reads a list of rows, all of them if it is empty.
func rowsOf(list string) (chosen []int, err error) {
	all := rows()
	if list == "" {
		return all, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		row, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || !slices.Contains(all, row) {
			return nil, fmt.Errorf("-rows %q: want numbers of %v, separated by commas", list, all)
		}
		chosen = append(chosen, row)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), nil
}
