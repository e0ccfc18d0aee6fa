package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const page = "docs/security.md"

var block = regexp.MustCompile(`(?s)(<!-- attacks:start[^\n]*-->\n).*?(<!-- attacks:end -->)`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "attacks:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	var output []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		output = append(output, text...)
	}
	if len(files) == 0 {
		output = runTests()
	}
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if !block.Match(before) {
		return fmt.Errorf("%s has no place for the table", page)
	}
	outcomes := writtenIn(string(block.Find(before)))
	maps.Copy(outcomes, outcomesOf(output))
	table := tableOf(outcomes)
	fmt.Print(table)
	after := block.ReplaceAllFunc(before, func(found []byte) []byte {
		parts := block.FindSubmatch(found)
		return slices.Concat(parts[1], []byte(table), parts[2])
	})
	return os.WriteFile(page, after, 0o600)
}

// runTests runs the tests of each package, and returns what they wrote. Whether they
// passed is in it.
func runTests() []byte {
	names := make(map[string][]string)
	for _, f := range findings {
		for _, t := range f.tests {
			names[t.pkg] = append(names[t.pkg], t.name)
		}
	}
	var output bytes.Buffer
	for _, pkg := range slices.Sorted(maps.Keys(names)) {
		command := exec.Command("go", "test", "-v", "-timeout", "40m", "-run", "^("+strings.Join(names[pkg], "|")+")$", pkg) //nolint:noctx // it ends with this program
		command.Stdout, command.Stderr = &output, os.Stderr
		if err := command.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", pkg, err)
		}
	}
	return output.Bytes()
}

// outcome is what came of one test.
type outcome struct {
	result string // PASS or FAIL
	// peak is in MiB, processor in seconds; 0 if the test does not measure them.
	peak      int
	processor float64
	bystander string
}

var (
	ended    = regexp.MustCompile(`^--- (PASS|FAIL): (\w+) `)
	measured = regexp.MustCompile(`\| (\w+)(?:/\S+)? \| (\d+) MiB \| ([\d.]+) s \| .*? \| .*?(p50 \S+ p99 [^,]+), slowest`)
)

// outcomesOf reads what go test wrote. Of subtests, the one counts that needs most
// memory.
func outcomesOf(output []byte) map[string]outcome {
	outcomes := make(map[string]outcome)
	for line := range strings.Lines(string(output)) {
		if m := ended.FindStringSubmatch(line); m != nil {
			o := outcomes[m[2]]
			o.result = m[1]
			outcomes[m[2]] = o
		}
		if m := measured.FindStringSubmatch(line); m != nil {
			o := outcomes[m[1]]
			peak, _ := strconv.Atoi(m[2])
			seconds, _ := strconv.ParseFloat(m[3], 64)
			if peak > o.peak {
				o.peak, o.bystander = peak, m[4]
			}
			o.processor += seconds
			outcomes[m[1]] = o
		}
	}
	return outcomes
}

// elsewhere is the result of a test that is not run for the table.
const elsewhere = "in `make test`"

// writtenIn reads the outcomes that a table has.
func writtenIn(table string) map[string]outcome {
	outcomes := make(map[string]outcome)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != columns || !strings.HasPrefix(cells[3], "`") {
			continue
		}
		var o outcome
		if o.result = strings.TrimSpace(cells[4]); o.result == "" || o.result == elsewhere {
			continue
		}
		o.peak, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(cells[5]), " MiB"))
		o.processor, _ = strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(cells[6]), " s"), 64)
		o.bystander = strings.TrimSpace(strings.TrimSuffix(cells[7], "|"))
		outcomes[strings.Trim(cells[3], "`")] = o
	}
	return outcomes
}

// columns is how many the table has.
const columns = 8

func tableOf(outcomes map[string]outcome) string {
	var b strings.Builder
	b.WriteString("| | trigger | before | test | result | peak memory | processor | a bystander's changes took |\n|---|---|---|---|---|---|---|---|\n")
	for i, f := range findings {
		number, trigger, before := strconv.Itoa(i+1), f.trigger, f.before
		for _, t := range f.tests {
			o := outcomes[t.name]
			peak, processor := "", ""
			if o.peak > 0 {
				peak, processor = fmt.Sprintf("%d MiB", o.peak), fmt.Sprintf("%.1f s", o.processor)
			}
			o.result = cmp.Or(o.result, elsewhere)
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` | %s | %s | %s | %s |\n", number, trigger, before, t.name, o.result, peak, processor, o.bystander)
			number, trigger, before = "", "", ""
		}
	}
	return b.String()
}
