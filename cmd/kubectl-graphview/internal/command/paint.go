package command

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"graphview.dev/graphview/printable"
)

// paint colours text on a terminal, unless the user has turned colours off. The zero
// value does not.
type paint struct{ on bool }

func paintFor(out io.Writer) paint {
	return paint{on: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(out)}
}

func isTerminal(out io.Writer) bool {
	if s, ok := out.(*screen); ok {
		return s.terminal
	}
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (p paint) wrap(code, text string) string {
	if !p.on || text == "" {
		return text
	}
	return colour(code) + text + colour("0")
}

// colour returns the sequence that sets a colour of a terminal; 0 ends all.
func colour(code string) string { return "\x1b[" + code + "m" }

// eraseLine is the sequence that removes the line of a terminal.
const eraseLine = "\r\x1b[K"

// Bad colours missing objects and objects that need attention.
func (p paint) Bad(text string) string { return p.wrap("31", text) }

// Good colours additions and successful checks.
func (p paint) Good(text string) string { return p.wrap("32", text) }

// Faint colours lines and remarks.
func (p paint) Faint(text string) string { return p.wrap("2", text) }

// Strong colours headings and roots.
func (p paint) Strong(text string) string { return p.wrap("1", text) }

// oneLine returns the printable text in one line.
func oneLine(text string) string { return printable.Text(strings.Join(strings.Fields(text), " ")) }

// row returns a line of a table. Tabs and line breaks in a cell do not move the others.
func row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = printable.Text(cell)
	}
	return strings.Join(cells, "\t")
}

// errorText returns the printable text of an error. Lines after the first are indented, so that
// a line break in the error forges no message.
func errorText(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i, line := range lines {
		lines[i] = printable.Text(strings.TrimRight(strings.ReplaceAll(line, "\t", "  "), " \r"))
		if i > 0 && lines[i] != "" {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}
