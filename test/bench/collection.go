package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"graphview.dev/test/must"
)

// traceCollections makes a Go program log its garbage collections.
const traceCollections = "GODEBUG=gctrace=1"

// span is the time of a garbage collection.
type span struct{ began, ended time.Time }

// collectionLine is a line of traceCollections: its number, the second since the start of the process, and the milliseconds of its phases.
var collectionLine = regexp.MustCompile(`^gc (\d+) @([\d.]+)s \d+%: ([\d.]+)\+([\d.]+)\+([\d.]+) ms clock`)

// collections returns the garbage collections of an operator with traceCollections.
func (r *running) collections() []span {
	log := must.Get(os.Open(r.LogPath()))
	defer log.Close()
	started := startOf(r.PID())
	var all []span
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		found := collectionLine.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		if found[1] == "1" {
			all = nil // an operator before this one has the same log
		}
		number := func(i int) float64 { return must.Get(strconv.ParseFloat(found[i], 64)) }
		began := started.Add(time.Duration(number(2) * float64(time.Second)))
		all = append(all, span{began, began.Add(time.Duration((number(3) + number(4) + number(5)) * float64(time.Millisecond)))})
	}
	must.Do(lines.Err())
	return all
}

// startOf returns when a process started, to a hundredth of a second.
func startOf(pid int) time.Time {
	const ticks = 100 // a second, on all of Go's platforms of Linux
	stat := must.Get(must.Get(procfs.NewProc(pid)).Stat())
	var up float64
	must.Get(fmt.Sscan(string(must.Get(os.ReadFile("/proc/uptime"))), &up))
	return time.Now().Add(-time.Duration((up - float64(stat.Starttime)/ticks) * float64(time.Second)))
}

// overlaps reports whether a time overlaps any of the spans.
func overlaps(spans []span, began, ended time.Time) bool {
	for _, s := range spans {
		if began.Before(s.ended) && s.began.Before(ended) {
			return true
		}
	}
	return false
}

// shareOf returns the part of a time that spans take.
func shareOf(spans []span, began, ended time.Time) float64 {
	var taken time.Duration
	for _, s := range spans {
		from, to := s.began, s.ended
		if from.Before(began) {
			from = began
		}
		if to.After(ended) {
			to = ended
		}
		taken += max(to.Sub(from), 0)
	}
	return taken.Seconds() / ended.Sub(began).Seconds()
}
