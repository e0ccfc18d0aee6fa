package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// What the table stands between in the document.
const (
	tableBegins = "<!-- bench:start -->"
	tableEnds   = "<!-- bench:end -->"
)

var errNoPlace = errors.New("there is no place for the table")

// writeTable writes a Markdown table whose columns are aligned, the first row
// being its head.
func writeTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		for column, cell := range row {
			fmt.Fprintf(b, "| %s%s ", cell, strings.Repeat(" ", widths[column]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
}

// replaceBetween puts a text between two markers of a file.
func replaceBetween(path, begins, ends, text string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	replaced, err := between(string(document), begins, ends, text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(replaced), 0o644); err != nil { //nolint:gosec // a document is for all to read
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// between replaces what is between the markers.
func between(document, begins, ends, text string) (string, error) {
	before, rest, ok := strings.Cut(document, begins)
	if !ok {
		return "", fmt.Errorf("%w: %s", errNoPlace, begins)
	}
	_, after, ok := strings.Cut(rest, ends)
	if !ok {
		return "", fmt.Errorf("%w: %s", errNoPlace, ends)
	}
	return before + begins + "\n" + text + ends + after, nil
}
