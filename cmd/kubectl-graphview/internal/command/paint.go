package command

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// paint colours text, on a terminal whose user has nothing against it. The zero
// value does not.
type paint struct{ on bool }

func paintFor(out io.Writer) paint {
	return paint{on: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(out)}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (p paint) wrap(code, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bad is for what is missing or in trouble.
func (p paint) Bad(text string) string { return p.wrap("31", text) }

// Good is for what has come.
func (p paint) Good(text string) string { return p.wrap("32", text) }

// Faint is for what leads the eye.
func (p paint) Faint(text string) string { return p.wrap("2", text) }

// Strong is for where something begins.
func (p paint) Strong(text string) string { return p.wrap("1", text) }

// printable removes terminal control sequences from text of others.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// oneLine returns the printable text in one line.
func oneLine(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }
