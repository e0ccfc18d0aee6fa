package document

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// ErrNoPlace says that a document lacks a marker, or has the markers in the wrong order.
var ErrNoPlace = errors.New("there is no place for the text")

// Replace replaces the text between two markers of a file. It does not write a file that has the
// text already.
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

// between replaces the text between the markers.
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

// Table returns a Markdown table with aligned columns. The first row is its head.
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
