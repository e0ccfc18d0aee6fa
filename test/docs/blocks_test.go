package docs

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// How a block is run.
const (
	runs    = ""
	streams = "streams"
	fails   = "fails"
	no      = "no"
)

// block is a fenced block of shell commands.
type block struct {
	page string
	line int
	how  string
	// reason is why it is not run.
	reason string
	// script is the commands, and printed what the page says they print, if it
	// does.
	script, printed string
}

var (
	fence  = regexp.MustCompile("(?ms)^```(?:console|sh|bash|shell)\n(.*?)^```")
	marker = regexp.MustCompile(`<!-- test: (\w+)(?:; ([^>]+?))? -->\n+$`)
)

// parse finds the blocks of a page.
func parse(page, text string) ([]block, error) {
	var blocks []block
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		b := block{page: page, line: 1 + strings.Count(text[:at[0]], "\n")}
		if m := marker.FindStringSubmatch(text[:at[0]]); m != nil {
			b.how, b.reason = m[1], m[2]
		}
		switch b.how {
		case runs, streams, fails:
		case no:
			if b.reason == "" {
				return nil, fmt.Errorf("%s: a block that is not run needs a reason", b.name())
			}
		default:
			return nil, fmt.Errorf("%s: nobody knows how to test %q", b.name(), b.how)
		}
		b.script, b.printed = prompts(text[at[2]:at[3]])
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// prompts takes a block with prompts apart; without, all of it is the script.
func prompts(text string) (script, printed string) {
	if !strings.HasPrefix(text, "$ ") {
		return text, ""
	}
	var commands, output strings.Builder
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands.WriteString(command)
		} else {
			output.WriteString(line)
		}
	}
	return commands.String(), output.String()
}

func (b *block) name() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// commands are the script's, one by one: lines, with their continuations.
func (b *block) commands() []string {
	var all []string
	more := false
	for line := range strings.Lines(b.script) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case more:
			all[len(all)-1] += "\n" + text
		default:
			all = append(all, text)
		}
		more = strings.HasSuffix(text, "\\") || strings.HasSuffix(text, "|")
	}
	return all
}

// optional are programs that documentation uses and not every system has.
var optional = regexp.MustCompile(`(?m)(?:^|\| *)(curl|jq)\b`)

// missing is a program that the block needs and this system does not have.
func (b *block) missing() string {
	for _, match := range optional.FindAllStringSubmatch(b.script, -1) {
		if _, err := exec.LookPath(match[1]); err != nil {
			return match[1]
		}
	}
	return ""
}
