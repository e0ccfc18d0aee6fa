package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The markers around the table in the document.
const (
	tableBegins = "<!-- bench:start -->"
	tableEnds   = "<!-- bench:end -->"
)

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
