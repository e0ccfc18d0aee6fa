package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
)

// crashPause is the time for which expressions are refused after two crashes, and the longest time
// between these two.
const crashPause = 10 * time.Minute

// crashes remembers in a file how earlier processes ended. A process that runs out of memory cannot
// say why, but an expression of a user may be the cause, and would end the next process too.
type crashes struct {
	path string
	crashRecord
}

// crashRecord is the content of the file.
type crashRecord struct {
	// Running: a process has started and has not ended in order.
	Running bool `json:"running"`
	// Ends has the starts of the processes that followed the last two crashes.
	Ends []time.Time `json:"ends,omitempty"`
}

// openCrashes reads the file of the previous process in a directory that only one process at a time
// uses, and records that this process runs. A damaged file counts as absent.
func openCrashes(dir string, now time.Time) (*crashes, error) {
	c := &crashes{path: filepath.Join(dir, "crashes.json")}
	text, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(text, &c.crashRecord) != nil {
		c.crashRecord = crashRecord{}
	}
	if c.Running {
		c.Ends = append(c.Ends, now)
		c.Ends = c.Ends[max(0, len(c.Ends)-2):]
	}
	c.Running = true
	return c, c.save()
}

// refuseUntil returns the time until which expressions are refused, zero or in the past if they are not.
func (c *crashes) refuseUntil() time.Time {
	if len(c.Ends) < 2 || c.Ends[1].Sub(c.Ends[0]) > crashPause {
		return time.Time{}
	}
	return c.Ends[1].Add(crashPause)
}

// close records that the process ends in order.
func (c *crashes) close() error {
	c.Running = false
	return c.save()
}

// save replaces the file. If the process ends during the call, the file is the old or the new one.
func (c *crashes) save() error {
	text, err := json.Marshal(c.crashRecord)
	if err != nil {
		return err
	}
	next := c.path + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(next, c.path); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	return nil
}

// watchCrashes returns the time until which expressions are refused, and a function to call at the
// orderly end of the process. An operator that cannot use --state-dir refuses nothing.
func watchCrashes(dir string, log logr.Logger) (refuseUntil time.Time, closeCrashes func()) {
	if dir == "" {
		return time.Time{}, func() {}
	}
	now := time.Now()
	c, err := openCrashes(dir, now)
	if err != nil {
		log.Error(err, "Cannot use --state-dir: an expression that ends the operator is tried again at once")
		return time.Time{}, func() {}
	}
	until := c.refuseUntil()
	if now.Before(until) {
		log.Info("Refusing expressions in GraphViews, ReferenceRules and requests, because the operator ended twice within minutes", "until", until)
	}
	return until, func() {
		if err := c.close(); err != nil {
			log.Error(err, "The orderly end is not recorded, so it counts as a crash")
		}
	}
}
