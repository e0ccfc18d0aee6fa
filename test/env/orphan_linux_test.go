package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// "pid (name) state …", and a name may contain anything.
	_, state, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

func TestKilledProcessLeavesNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	temporary := t.TempDir()
	cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+temporary)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var started report
	decodeErr := json.NewDecoder(out).Decode(&started)
	killErr := cmd.Process.Kill()
	_ = cmd.Wait() // always "signal: killed"
	if err := errors.Join(decodeErr, killErr); err != nil {
		t.Fatal(err)
	}
	if len(started.Pids) != 2 {
		t.Fatalf("the child started %v, want two programs", started.Pids)
	}
	eventually(t, func(context.Context) error {
		for _, pid := range started.Pids {
			if alive(pid) {
				return fmt.Errorf("process %d lives", pid)
			}
		}
		return nil
	})

	// The next start removes leftover files that are too old to be in use.
	sweepAt := func(age time.Duration) {
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(started.Dir, "lock"), at, at); err != nil {
			t.Fatal(err)
		}
		sweep(temporary)
	}
	sweepAt(-time.Hour) // young, however long the start took
	if _, err := os.Stat(started.Dir); err != nil {
		t.Errorf("a young directory: %v, want it left alone", err)
	}
	sweepAt(time.Hour)
	if _, err := os.Stat(started.Dir); !os.IsNotExist(err) {
		t.Errorf("an old directory: %v, want it gone", err)
	}
}
