package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// line is one line of the table: a measurement of the operator beside others.
type line struct {
	row        int // of the goals
	what, goal string
	// ours is the operator; floor and peer were measured in the same run. The floor is a lower bound for any
	// program; the peer does the same job. Both are optional.
	ours, floor, peer   spread
	floorName, peerName string
	format              func(float64) string
	// reached reports whether the goal is reached; nil without a goal.
	reached func(*line) bool
}

// spread has the values of one measure over the rounds, the smallest first. Nil: it was not measured.
type spread []float64

// single returns the spread of one value.
func single(v float64) spread { return spread{v} }

// spreadOf returns a value of all rounds, sorted.
func spreadOf[T any](rounds []T, value func(*T) float64) (s spread) {
	for i := range rounds {
		s = append(s, value(&rounds[i]))
	}
	slices.Sort(s)
	return s
}

// median returns the median, NaN without values.
func (s spread) median() float64 {
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// within is the goal of at most limit.
func within(limit float64) func(*line) bool {
	return func(l *line) bool { return l.ours.median() <= limit }
}

// atLeast is the goal of at least limit.
func atLeast(limit float64) func(*line) bool {
	return func(l *line) bool { return l.ours.median() >= limit }
}

// timesFloor is the goal of at most factor times the floor.
func timesFloor(factor float64) func(*line) bool {
	return func(l *line) bool { return l.ours.median() <= factor*l.floor.median() }
}

// partOfPeer is the goal of at most that part of the peer.
func partOfPeer(part float64) func(*line) bool {
	return func(l *line) bool { return l.ours.median() <= part*l.peer.median() }
}

var header = []string{"#", "what", "goal", "ours", "floor", "peer", "ours ÷ floor", "ours ÷ peer", "reached"}

func (l *line) cells() []string {
	verdict := ""
	switch {
	case l.goal != "" && math.IsNaN(l.ours.median()):
		verdict = "not measured"
	case l.reached == nil:
	case l.reached(l):
		verdict = "yes"
	default:
		verdict = "NOT reached"
	}
	return []string{
		fmt.Sprint(l.row), l.what, l.goal, l.cell(l.ours, ""), l.cell(l.floor, l.floorName), l.cell(l.peer, l.peerName),
		ratio(l.ours, l.floor), ratio(l.ours, l.peer), verdict,
	}
}

func (l *line) cell(s spread, name string) string {
	if math.IsNaN(s.median()) {
		return ""
	}
	low, text, high := l.format(s[0]), l.format(s.median()), l.format(s[len(s)-1])
	if low != high {
		text = fmt.Sprintf("%s (%s to %s)", text, low, high)
	}
	if name != "" {
		text += ", " + name
	}
	return text
}

func ratio(a, b spread) string {
	if math.IsNaN(a.median()) || math.IsNaN(b.median()) || b.median() == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g", a.median()/b.median())
}

func seconds(v float64) string      { return fmt.Sprintf("%.2f s", v) }
func microseconds(v float64) string { return fmt.Sprintf("%.0f µs", 1e6*v) }
func milliseconds(v float64) string { return fmt.Sprintf("%.2f ms", 1e3*v) }
func kilobytes(v float64) string    { return fmt.Sprintf("%.2f KB", v/1e3) }
func megabytes(v float64) string    { return fmt.Sprintf("%.0f MB", v/1e6) }
func bytesOf(v float64) string      { return fmt.Sprintf("%.0f B", v) }
func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func plain(v float64) string        { return fmt.Sprintf("%.2f", v) }
func percentOf(v float64) string    { return fmt.Sprintf("%.1f %%", v) }
func cores(v float64) string        { return fmt.Sprintf("%.3f cores", v) }
func perSecond(v float64) string    { return fmt.Sprintf("%.0f/s", v) }

// percentile sorts durations and returns the one at the percent, in seconds, NaN without durations.
func percentile(all []time.Duration, percent int) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[min(len(all)*percent/100, len(all)-1)].Seconds()
}
