package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// options are the flags.
type options struct {
	root    string
	only    string
	tests   string
	each    int
	list    bool
	timeout time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.only, "only", "", "break only functions whose package/name contains this")
	flag.StringVar(&o.tests, "run", "", "run only tests that match this, as go test does")
	flag.IntVar(&o.each, "each", 10, "the most breaks of one function")
	flag.BoolVar(&o.list, "list", false, "print the breaks, and run no test")
	flag.DurationVar(&o.timeout, "timeout", 3*time.Minute, "the most time that the tests of a package may take")
	flag.Parse()
	must.Main("mutate", func(ctx context.Context) {
		o.root = must.Get(env.ModuleRoot())
		o.run(ctx)
	})
}

// target is one function of targets.txt.
type target struct {
	folder, function string
	tests            []string // the packages whose tests run
}

// score counts the breaks of a target.
type score struct{ noticed, missed, broken, equivalent int }

// name returns the name of a break in the output and in equivalent.txt.
func (t target) name(m mutant) string { return fmt.Sprintf("%s %s: %s", t.folder, t.function, m.what) }

// targets returns the functions of targets.txt that -only selects.
func (o *options) targets() (targets []target) {
	for _, line := range o.lines("targets.txt") {
		names, functions, _ := strings.Cut(line, ":")
		folders := strings.Fields(names)
		for name := range strings.FieldsSeq(functions) {
			if strings.Contains(folders[0]+"/"+name, o.only) {
				t := target{folder: folders[0], function: name}
				for _, folder := range folders {
					t.tests = append(t.tests, "./"+folder)
				}
				targets = append(targets, t)
			}
		}
	}
	return targets
}

// equivalent returns the breaks of equivalent.txt.
func (o *options) equivalent() map[string]bool {
	names := make(map[string]bool)
	for _, line := range o.lines("equivalent.txt") {
		name, _, _ := strings.Cut(line, " # ")
		names[strings.TrimSpace(name)] = true
	}
	return names
}

// run breaks all targets, and prints a line for each break and a table.
func (o *options) run(ctx context.Context) {
	equivalent := o.equivalent()
	var all score
	var table strings.Builder
	for _, t := range o.targets() {
		mutants := must.Get(mutantsOf(filepath.Join(o.root, filepath.FromSlash(t.folder)), t.function))
		var s score
		for _, m := range spread(mutants, o.each) {
			name := t.name(m)
			if o.list {
				fmt.Println(name)
				continue
			}
			if equivalent[name] {
				s.equivalent++
				continue
			}
			switch verdict := o.try(ctx, t.tests, m); verdict {
			case "noticed":
				s.noticed++
			case "does not compile":
				s.broken++
			default:
				s.missed++
				fmt.Printf("%s:%d: %s\n", m.file, m.line, name)
			}
		}
		fmt.Fprintf(&table, "%-20s %-28s %3d of %3d noticed\n", t.folder, t.function, s.noticed, s.noticed+s.missed)
		all.noticed, all.missed, all.broken, all.equivalent = all.noticed+s.noticed, all.missed+s.missed, all.broken+s.broken, all.equivalent+s.equivalent
	}
	if !o.list {
		fmt.Printf("%s%d of %d breaks noticed; %d do not compile, %d change nothing\n", table.String(), all.noticed, all.noticed+all.missed, all.broken, all.equivalent)
	}
}

// lines returns the lines of a file in this folder without comments.
func (o *options) lines(name string) (lines []string) {
	file := must.Get(os.Open(filepath.Join(o.root, "hack", "mutate", name)))
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	must.Do(scanner.Err())
	return lines
}

// spread returns at most n elements, evenly chosen.
func spread(all []mutant, n int) []mutant {
	if len(all) <= n {
		return all
	}
	chosen := make([]mutant, n)
	for i := range chosen {
		chosen[i] = all[i*len(all)/n]
	}
	return chosen
}

// try runs the tests of some packages with a mutant.
func (o *options) try(ctx context.Context, tests []string, m mutant) string {
	dir := must.Get(os.MkdirTemp("", "graphview-mutate-"))
	defer os.RemoveAll(dir)
	replacement, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	must.Do(os.WriteFile(replacement, m.text, 0o600))
	text := must.Get(json.Marshal(map[string]map[string]string{"Replace": {m.file: replacement}}))
	must.Do(os.WriteFile(overlay, text, 0o600))
	ctx, cancel := context.WithTimeout(ctx, o.timeout+time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", o.timeout.String(), "-run", o.tests}, tests...)...)
	command.Dir = o.root
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "missed"
	case !errors.As(err, &exit):
		must.Do(err)
	case slices.Contains(strings.Fields(string(out)), "[build"):
		return "does not compile"
	}
	return "noticed"
}
