package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/must"
)

// The markers around the tables in the document.
const (
	profilesBegin = "<!-- profiles:start -->"
	profilesEnd   = "<!-- profiles:end -->"
)

// profiledRate is the load of the steady state that is profiled.
const profiledRate = 1000

// profile writes the profiles of a cold start and of a steady state of the
// engine, in a process of its own that nothing else is measured of, and their
// top five into a document.
func (b *bench) profile(ctx context.Context, path string, about machine) {
	dir := filepath.Join(b.root, "bin", "bench", "profiles")
	must.Do(os.MkdirAll(dir, 0o755))
	r := b.newReplay(ctx)
	defer r.close()
	file := func(name string) string { return filepath.Join(dir, name+".pprof") }
	// Only of the cold start, without a replay, which would read the lists twice.
	b.child(ctx, task{Name: "engine", CPUProfile: file("cold-cpu"), MemProfile: file("cold-heap")})
	steady := task{Name: "engine", EventProfile: file("steady-cpu"), MemProfile: file("steady-heap")}
	b.played(ctx, r, steady, int(b.period.Seconds()*profiledRate), profiledRate)
	self := must.Get(os.Executable())
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s. %d objects (%s); the steady state has %d changes of pods a second and one subscriber.\n",
		time.Now().UTC().Format(time.DateOnly), about, b.shape.objects(), b.shape, profiledRate)
	for _, p := range []struct{ title, name, index string }{
		{"Cold start, processor time", "cold-cpu", "cpu"},
		{"Cold start, heap in use at its end", "cold-heap", "inuse_space"},
		{"Steady state, processor time", "steady-cpu", "cpu"},
		{"Steady state, heap in use at its end", "steady-heap", "inuse_space"},
	} {
		table := top(ctx, self, file(p.name), p.index)
		fmt.Fprintf(&text, "\n### %s\n\n%s", p.title, table)
	}
	fmt.Print(text.String())
	must.Do(document.Replace(path, profilesBegin, profilesEnd, text.String()))
}

// topCount is how many functions of a profile a table has, by what they use
// themselves, and again by what they and those they call use.
const topCount = 5

// top returns the top of a profile as a table: functions by their own use, and the project's
// functions by their use including callees.
func top(ctx context.Context, program, profile, index string) string {
	rows := [][]string{{"function", "itself", "", "with what it calls", ""}}
	for _, args := range [][]string{{"-flat"}, {"-cum", "-focus=graphview.dev", "-show=graphview.dev"}} {
		args = append([]string{"tool", "pprof", "-top", "-nodecount=" + strconv.Itoa(topCount), "-sample_index=" + index}, args...)
		cmd := exec.CommandContext(ctx, "go", append(args, program, profile)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		text, err := cmd.Output()
		if err != nil {
			must.Do(fmt.Errorf("read profile %s: %w: %s", filepath.Base(profile), err, bytes.TrimSpace(said.Bytes())))
		}
		rows = append(rows, functions(string(text))...)
	}
	return document.Table(rows)
}

// functions reads what pprof prints for -top.
func functions(text string) (rows [][]string) {
	_, text, _ = strings.Cut(text, "flat%")
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		// flat, flat%, sum%, cum, cum%, name
		if fields := strings.Fields(line); len(fields) >= 6 {
			rows = append(rows, []string{"`" + strings.Join(fields[5:], " ") + "`", fields[0], fields[1], fields[3], fields[4]})
		}
	}
	return rows
}
