package command

import (
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// screen is the output of all commands. It replaces control characters with U+FFFD: names and messages come from other users, other clusters and their administrators. Lines and
// tabs pass, so text that must stay in its line or its cell is printable.Text too (row, oneLine).
//
// A screen is not safe for concurrent use.
type screen struct {
	out io.Writer
	// terminal reports whether the command's own sequences pass.
	terminal bool
	// rest is the beginning of a character whose other bytes are in the next write.
	rest []byte
}

func newScreen(out io.Writer) *screen { return &screen{out: out, terminal: isTerminal(out)} }

// sequences are the control sequences of commands: colours, and the removal of a line.
var sequences = []string{colour("31"), colour("32"), colour("1"), colour("2"), colour("0"), eraseLine}

// Write implements io.Writer. All of p counts as written.
func (s *screen) Write(p []byte) (int, error) {
	text := slices.Concat(s.rest, p)
	passed := make([]byte, 0, len(text))
	for len(text) > 0 && utf8.FullRune(text) {
		if n := s.ownSequence(text); n > 0 {
			passed, text = append(passed, text[:n]...), text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			r = utf8.RuneError
		}
		passed, text = utf8.AppendRune(passed, r), text[size:]
	}
	s.rest = text
	if _, err := s.out.Write(passed); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownSequence returns the length of the sequence that a text begins with, 0 if it begins with none.
func (s *screen) ownSequence(text []byte) int {
	if !s.terminal || text[0] != '\x1b' && text[0] != '\r' {
		return 0
	}
	for _, sequence := range sequences {
		if len(text) >= len(sequence) && string(text[:len(sequence)]) == sequence {
			return len(sequence)
		}
	}
	return 0
}
