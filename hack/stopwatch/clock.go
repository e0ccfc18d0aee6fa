package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// clock notes what had happened when, since it was started.
type clock struct {
	started time.Time
	laps    []lap
}

type lap struct {
	what string
	at   time.Duration
}

func startClock() *clock { return &clock{started: time.Now()} }

// lap notes that something has happened.
func (c *clock) lap(what string) {
	at := time.Since(c.started)
	c.laps = append(c.laps, lap{what, at})
	fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", at.Seconds(), what)
}

// table is what was noted, in Markdown.
func (c *clock) table(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | after |\n|---|---|\n", title)
	for _, l := range c.laps {
		fmt.Fprintf(&b, "| %s | %.1f s |\n", strings.ReplaceAll(l.what, "|", "\\|"), l.at.Seconds())
	}
	return b.String()
}

// What the tables stand between.
const (
	begins = "<!-- stopwatch:start, written by make stopwatch -->"
	ends   = "<!-- stopwatch:end -->"
)
