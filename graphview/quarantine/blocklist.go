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
	blocklistName = "quarantine.json"
	// maxEntries bounds the entries. The oldest ones are dropped.
	maxEntries = 1024
	// firstPause is the time for which all versions of a subject are refused after its second
	// refusal. It doubles with each further refusal, up to longestPause.
	firstPause   = 10 * time.Minute
	longestPause = 24 * time.Hour
)

// Refusal is the error for work that is not done because it ended the process before.
type Refusal struct {
	Work Work
	// At is the start of the process that found the interrupted work.
	At time.Time
	// Until is the time until which other versions are refused too, zero if they are not.
	Until time.Time
}

func (r *Refusal) Error() string {
	text := "the operator was ended while it worked on this, so it does not try again until this changes"
	if !r.Until.IsZero() {
		text += ", and not before " + r.Until.UTC().Format(time.RFC3339) + ": it was not the first time"
	}
	return text
}

// entry is the verdict on one subject.
type entry struct {
	Subject subject `json:"subject"`
	Version uint64  `json:"version"`
	State   state   `json:"state"`
	// Times counts the refusals. At is the start of the last process that found the work interrupted.
	Times int       `json:"times"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"`
}

type state string

const (
	suspected state = "suspected"
	refused   state = "refused"
	// changed: another version has replaced the refused one, or a suspect that was refused before
	// has been acquitted. The entry remains so that the next refusal lasts longer.
	changed state = "changed"
)

// blocklist holds the verdicts on suspected and refused work. They are stored in a file.
type blocklist struct {
	path string
	// entries points to an immutable map. It is usually nil, because there are no entries.
	entries atomic.Pointer[map[subject]entry]

	mu sync.Mutex // held by writers
}

// readBlocklist reads the file of the previous process. A damaged file counts as empty.
func readBlocklist(dir string) (*blocklist, error) {
	b := &blocklist{path: filepath.Join(dir, blocklistName)}
	text, err := os.ReadFile(b.path)
	if errors.Is(err, os.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	var listed []entry
	if json.Unmarshal(text, &listed) == nil {
		entries := make(map[subject]entry)
		for _, e := range listed[:min(len(listed), maxEntries)] {
			entries[e.Subject] = e
		}
		b.replace(entries)
	}
	return b, nil
}

func (b *blocklist) replace(entries map[subject]entry) {
	if len(entries) == 0 {
		b.entries.Store(nil)
		return
	}
	b.entries.Store(&entries)
}

// all returns a copy of the entries that the caller may change.
func (b *blocklist) all() map[subject]entry {
	if entries := b.entries.Load(); entries != nil {
		return maps.Clone(*entries)
	}
	return make(map[subject]entry)
}

// blame adds the work that the end of the previous process interrupted: as suspected or refused.
func (b *blocklist) blame(found []interrupted, now time.Time) error {
	if len(found) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	entries := b.all()
	for _, f := range found {
		of := f.work.subject()
		e, known := entries[of]
		again := known && e.State == suspected && e.Version == f.work.Version
		e.Subject, e.Version, e.At, e.State, e.Until = of, f.work.Version, now, suspected, time.Time{}
		if again || f.lasted >= HighWater {
			e.State = refused
			e.Times++
			if e.Times > 1 {
				e.Until = now.Add(min(firstPause<<min(e.Times-2, 16), longestPause))
			}
		}
		entries[of] = e
	}
	return b.saveLocked(entries)
}

// find returns the refusal of work, nil if there is none, and reports whether it is suspected.
func (b *blocklist) find(w Work) (refusal *Refusal, suspect bool) {
	entries := b.entries.Load()
	if entries == nil {
		return nil, false
	}
	e, ok := (*entries)[w.subject()]
	switch {
	case !ok, e.State == changed:
		return nil, false
	case e.State == suspected:
		return nil, e.Version == w.Version
	case e.Version == w.Version, time.Now().Before(e.Until):
		return &Refusal{Work: w, At: e.At, Until: e.Until}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.all()
	e.State = changed
	next[e.Subject] = e
	b.replace(next)
	return nil, false
}

// acquit drops all suspects. Entries that were refused before stay as changed.
func (b *blocklist) acquit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries := b.all()
	if len(entries) == 0 {
		return nil
	}
	maps.DeleteFunc(entries, func(_ subject, e entry) bool { return e.State == suspected && e.Times == 0 })
	for of, e := range entries {
		if e.State == suspected {
			e.State = changed
			entries[of] = e
		}
	}
	return b.saveLocked(entries)
}

// refusals returns the refused work, sorted.
func (b *blocklist) refusals() []Refusal {
	var out []Refusal
	for _, e := range b.all() {
		if e.State == refused {
			out = append(out, Refusal{Work: Work{e.Subject.Kind, e.Subject.Namespace, e.Subject.Name, e.Version}, At: e.At, Until: e.Until})
		}
	}
	slices.SortFunc(out, func(a, b Refusal) int {
		return cmp.Or(strings.Compare(a.Work.Kind, b.Work.Kind), strings.Compare(a.Work.Namespace, b.Work.Namespace), strings.Compare(a.Work.Name, b.Work.Name))
	})
	return out
}

// saveLocked replaces the entries and the file. If the process ends during the call, the file is
// the old or the new one.
func (b *blocklist) saveLocked(entries map[subject]entry) error {
	newest := slices.SortedFunc(maps.Values(entries), func(a, b entry) int { return b.At.Compare(a.At) })
	for _, old := range newest[min(len(newest), maxEntries):] {
		delete(entries, old.Subject)
	}
	b.replace(entries)
	text, err := json.Marshal(newest[:min(len(newest), maxEntries)])
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
