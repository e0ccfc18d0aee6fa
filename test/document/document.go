package document

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// ErrNoPlace: a document lacks a marker, or has them the other way round.
var ErrNoPlace = errors.New("there is no place for the text")

// Replace puts a text between two markers of a file, in place of what is there. It does not write
// a file that has the text already.
func Replace(path, begins, ends, text string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	after, err := between(string(before), begins, ends, text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if after == string(before) {
		return nil
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// Text is what a program prints while it measures, and then puts into its place in a document.
type Text struct{ strings.Builder }

// Line adds a line.
func (t *Text) Line(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	fmt.Print(line)
	t.WriteString(line)
}

// Row adds a row of a table.
func (t *Text) Row(cells ...any) {
	var text strings.Builder
	for _, cell := range cells {
		fmt.Fprint(&text, "| ", cell, " ")
	}
	t.Line("%s|", &text)
}

// Head begins a table.
func (t *Text) Head(columns ...any) {
	t.Row(columns...)
	t.Line("%s|", strings.Repeat("|---", len(columns)))
}

// Place puts the text between the markers of a table that a program of test/bench writes; the path
// may be empty.
func (t *Text) Place(path, table, program string) error {
	if path == "" {
		return nil
	}
	return Replace(path, "<!-- "+table+":start, written by go run ./test/bench/"+program+" -->", "<!-- "+table+":end -->", "\n"+t.String()+"\n")
}

// between replaces what is between the markers.
func between(document, begins, ends, text string) (string, error) {
	before, rest, ok := strings.Cut(document, begins)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNoPlace, begins)
	}
	_, after, ok := strings.Cut(rest, ends)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNoPlace, ends)
	}
	return before + begins + "\n" + text + ends + after, nil
}

// Table writes a Markdown table whose columns are aligned, the first row being its head.
func Table(rows [][]string) string {
	var b strings.Builder
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		for column, cell := range row {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", widths[column]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
