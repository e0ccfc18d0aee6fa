package command

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// moment is a flag with a time in the past: a duration before now, a time of day, or RFC 3339.
type moment struct {
	given string
	// asked is the time as the server takes it, "" if the flag is not set. A duration counts by the clock of the server.
	asked string
}

var _ pflag.Value = (*moment)(nil)

// expectedMoment describes the forms of a moment, for errors and descriptions of flags.
const expectedMoment = "a duration such as 2h, a time of day such as 14:03:11, or a time such as 2006-01-02T15:04:05Z"

// Set implements pflag.Value. A duration may have the sign of a time before now.
func (m *moment) Set(text string) error {
	m.given = text
	word := strings.TrimPrefix(text, "-")
	if days, found := strings.CutSuffix(word, "d"); found {
		if one, err := time.ParseDuration(days + "h"); err == nil {
			word = (24 * one).String()
		}
	}
	if before, err := time.ParseDuration(word); err == nil && before >= 0 {
		m.asked = before.String()
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		m.asked = at.UTC().Format(time.RFC3339Nano)
		return nil
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		at, err := time.ParseInLocation(layout, text, time.Local)
		if err != nil {
			continue
		}
		m.asked = onDay(at, time.Now()).UTC().Format(time.RFC3339Nano)
		return nil
	}
	return errors.New("expected " + expectedMoment)
}

// String implements pflag.Value.
func (m *moment) String() string { return m.given }

// Type implements pflag.Value.
func (m *moment) Type() string { return "time" }

// onDay returns the last time before now with the time of day of at.
func onDay(at, now time.Time) time.Time {
	day := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, at.Location())
	if day.After(now) {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

// clock returns a time of day, with the date if it is not today.
func clock(at time.Time) string {
	at = at.Local()
	if year, month, day := time.Now().Date(); at.Year() == year && at.Month() == month && at.Day() == day {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}
