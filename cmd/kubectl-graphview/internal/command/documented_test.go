package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// helpOf returns the text of --help.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := Run(t.Context(), "v0.0.0", append(args, "--help"), genericiooptions.IOStreams{In: new(bytes.Buffer), Out: &out, ErrOut: &out}); code != exitOK {
		t.Fatalf("%q exits with %d: %s", args, code, out.String())
	}
	return out.String()
}

// flagsOf returns the names of the flags in a help.
func flagsOf(help string) (names []string) {
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		names = append(names, flag[1], flag[2])
	}
	return names
}

// TestCommandsAreDocumented: docs describe the commands, flags and exit codes that there are.
func TestCommandsAreDocumented(t *testing.T) {
	read := func(page string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs/kubectl.md")
	_, listed, _ := strings.Cut(helpOf(t), "\nAvailable Commands:\n")
	listed, _, _ = strings.Cut(listed, "\n\n")
	flags := map[string][]string{}
	for _, command := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(listed, -1) {
		flags[command[1]] = append(flagsOf(helpOf(t, command[1])), flagsOf(helpOf(t))...)
	}
	flags["rule"] = append(flags["rule"], flagsOf(helpOf(t, "rule", "new"))...)

	t.Run("commands", func(t *testing.T) {
		_, table, _ := strings.Cut(page, "\n| command | does |\n")
		table, _, _ = strings.Cut(table, "\n\n")
		documented := []string{"help"}
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)").FindAllStringSubmatch(table, -1) {
			documented = append(documented, row[1])
		}
		slices.Sort(documented)
		var all []string
		for command := range flags {
			all = append(all, command)
		}
		slices.Sort(all)
		if diff := cmp.Diff(all, slices.Compact(documented)); diff != "" {
			t.Errorf("-commands +documented:\n%s", diff)
		}
	})

	t.Run("a flag is taken by the commands of which the page says so", func(t *testing.T) {
		quoted := regexp.MustCompile("`(\\w+)(?: --in)?`")
		for flag, sentence := range map[string]string{
			"local":    "(?s)\n(`dashboard`[^.]*) take `--local`",
			"inferred": "(?s)### --inferred=false\n\n(.*?) leave out",
			"from":     "(?s)\n(`tree`, [^.]*), for an agent, take `--from`",
			"with":     "(?s)\n(`tree`, [^.]*) take it beside `--local`",
			"link":     "(?s)takes the name of the link\\. ([^.]*) do:",
			"at":       "(?s)\n(`tree --at 2h` and `problems --at 14:00`) show",
		} {
			text := page + read("docs/manifests.md") + read("docs/fleet.md")
			said := regexp.MustCompile(sentence).FindStringSubmatch(text)
			if said == nil {
				t.Errorf("no page says which commands take --%s", flag)
				continue
			}
			var documented, takes []string
			for _, command := range quoted.FindAllStringSubmatch(regexp.MustCompile(" --at \\S+`").ReplaceAllString(said[1], "`"), -1) {
				documented = append(documented, command[1])
			}
			for command, all := range flags {
				if slices.Contains(all, flag) {
					takes = append(takes, command)
				}
			}
			slices.Sort(documented)
			slices.Sort(takes)
			if diff := cmp.Diff(takes, documented); diff != "" {
				t.Errorf("--%s: -taken by +documented:\n%s", flag, diff)
			}
		}
	})

	t.Run("the flags of command lines exist", func(t *testing.T) {
		pages, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "docs", "*.md"))
		if err != nil || len(pages) < 15 {
			t.Fatalf("%q %v", pages, err)
		}
		seen := 0
		for _, path := range append(pages, filepath.Join("..", "..", "..", "..", "README.md")) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole := strings.ReplaceAll(string(text), "\\\n", " ")
			for _, line := range regexp.MustCompile("kubectl[ -]graphview (\\w+)([^`|#\n;]*)").FindAllStringSubmatch(whole, -1) {
				known, ok := flags[line[1]]
				if !ok {
					continue // a sentence, or a name
				}
				for _, flag := range regexp.MustCompile(`(?:^|\s)--?([a-zA-Z][a-z-]*)`).FindAllStringSubmatch(line[2], -1) {
					if seen++; !slices.Contains(known, flag[1]) {
						t.Errorf("%s: %s has no flag %s", filepath.Base(path), line[0], flag[1])
					}
				}
			}
		}
		if seen < 80 {
			t.Errorf("%d flags are in command lines", seen)
		}
	})

	t.Run("exit codes", func(t *testing.T) {
		_, table, _ := strings.Cut(page, "\n## Exit codes\n")
		for _, code := range []int{exitOK, exitFailed, exitUsage, exitUnknown, exitInterrupted} {
			if !strings.Contains(table, "\n| "+strconv.Itoa(code)+" | ") {
				t.Errorf("the table has no row of %d", code)
			}
		}
	})
}
