package quarantine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bookName = "quarantine.json"
	// maxEntries bounds what is suspected or refused. The oldest goes first.
	maxEntries = 1024
	// firstPause is for how long all versions are refused when a second one of a
	// subject ended the process; it doubles up to longestPause.
	firstPause   = 10 * time.Minute
	longestPause = 24 * time.Hour
)

// Refusal says that work is not done because it ended the process before.
type Refusal struct {
	Work Work
	// At is when the process began that found out.
	At time.Time
	// Until is until when other versions are refused too, zero if they are not.
	Until time.Time
}

func (r *Refusal) Error() string {
	text := "the operator was ended while it worked on this, so it does not try again until this changes"
	if !r.Until.IsZero() {
		text += ", and not before " + r.Until.UTC().Format(time.RFC3339) + ": it was not the first time"
	}
	return text
}

// entry is what is known of one subject.
type entry struct {
	Subject subject `json:"subject"`
	Version uint64  `json:"version"`
	State   state   `json:"state"`
	// Times is how often it was refused, At when it last was under way at an end.
	Times int       `json:"times"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"`
}

type state string

const (
	suspected state = "suspected"
	refused   state = "refused"
	// changed: what was refused has another version now.
	changed state = "changed"
)

// book is what is suspected and refused. It is kept in a file.
type book struct {
	path string
	// relevant: something is suspected or refused. Nearly always nothing is.
	relevant atomic.Bool

	mu      sync.Mutex
	entries map[subject]entry
}

// readBook reads what there was before. Nothing can be made of a book that is
// damaged, so it begins anew.
func readBook(dir string) (*book, error) {
	b := &book{path: filepath.Join(dir, bookName), entries: make(map[subject]entry)}
	text, err := os.ReadFile(b.path)
	if errors.Is(err, os.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []entry
	if json.Unmarshal(text, &entries) == nil {
		for _, e := range entries[:min(len(entries), maxEntries)] {
			b.entries[e.Subject] = e
		}
	}
	return b, nil
}

// judge blames what was under way at an end for it.
func (b *book) judge(all []found, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range all {
		of := f.work.subject()
		e, known := b.entries[of]
		again := known && e.State == suspected && e.Version == f.work.Version
		e.Subject, e.Version, e.At, e.State, e.Until = of, f.work.Version, now, suspected, time.Time{}
		if again || f.lasted >= HighWater {
			e.State = refused
			e.Times++
			if e.Times > 1 {
				e.Until = now.Add(min(firstPause<<min(e.Times-2, 16), longestPause))
			}
		}
		b.entries[of] = e
	}
	b.relevant.Store(len(b.entries) > 0)
	if len(all) == 0 {
		return nil
	}
	return b.saveLocked()
}

// find tells whether work is refused or suspected.
func (b *book) find(w Work, now time.Time) (refusal *Refusal, suspect bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[w.subject()]
	switch {
	case !ok, e.State == changed:
		return nil, false
	case e.State == suspected:
		return nil, e.Version == w.Version
	case e.Version == w.Version, now.Before(e.Until):
		return &Refusal{Work: w, At: e.At, Until: e.Until}, false
	}
	// It is remembered for the next time only.
	e.State = changed
	b.entries[e.Subject] = e
	return nil, false
}

// acquit forgets what is suspected.
func (b *book) acquit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.entries)
	maps.DeleteFunc(b.entries, func(_ subject, e entry) bool { return e.State == suspected && e.Times == 0 })
	for of, e := range b.entries {
		if e.State == suspected {
			e.State = changed
			b.entries[of] = e
		}
	}
	b.relevant.Store(len(b.entries) > 0)
	if before == 0 {
		return nil
	}
	return b.saveLocked()
}

// refusals are sorted.
func (b *book) refusals() []Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Refusal
	for _, e := range b.entries {
		if e.State == refused {
			out = append(out, Refusal{Work: Work{e.Subject.Kind, e.Subject.Namespace, e.Subject.Name, e.Version}, At: e.At, Until: e.Until})
		}
	}
	slices.SortFunc(out, func(a, b Refusal) int {
		return cmp.Or(strings.Compare(a.Work.Kind, b.Work.Kind), strings.Compare(a.Work.Namespace, b.Work.Namespace), strings.Compare(a.Work.Name, b.Work.Name))
	})
	return out
}

// saveLocked replaces the file at once, so that an end in the middle loses nothing.
func (b *book) saveLocked() error {
	entries := make([]entry, 0, len(b.entries))
	for _, e := range b.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return b.At.Compare(a.At) })
	for _, old := range entries[min(len(entries), maxEntries):] {
		delete(b.entries, old.Subject)
	}
	text, err := json.Marshal(entries[:min(len(entries), maxEntries)])
	if err != nil {
		return err
	}
	next := b.path + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(next, b.path); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	return nil
}
