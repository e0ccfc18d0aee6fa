package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/env"
)

// shipped is what config/manager lets the operator have.
type shipped struct {
	memory     int64  // the container's limit, in bytes
	goMemLimit string // what its Go runtime is told
}

func shippedLimits() (s shipped, err error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return s, err
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "manager", "manager.yaml"))
	if err != nil {
		return s, err
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Env []struct{ Name, Value string }

						Resources struct{ Limits map[string]resource.Quantity }
					}
				}
			}
		}
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if err := yaml.Unmarshal([]byte(document), &deployment); err != nil {
			return s, err
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			memory := container.Resources.Limits["memory"]
			s.memory = memory.Value()
			for _, variable := range container.Env {
				if variable.Name == "GOMEMLIMIT" {
					s.goMemLimit = variable.Value
				}
			}
		}
	}
	if s.memory == 0 || s.goMemLimit == "" {
		return s, fmt.Errorf("config/manager has no limits: %+v", s)
	}
	return s, nil
}

// resetPeak resets the kernel's record of the operators' peak memory.
func resetPeak(t *testing.T) {
	t.Helper()
	for _, o := range operators() {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", o.PID()), []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// peak is the most memory that one of the operators has had resident since resetPeak.
func peak(t *testing.T) (most int64) {
	t.Helper()
	for _, o := range operators() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.PID()))
		if err != nil {
			t.Fatalf("the operator has ended: %v", err)
		}
		_, after, ok := strings.Cut(string(text), "VmHWM:")
		if !ok {
			t.Fatal("no VmHWM: the operator has ended")
		}
		kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, kib<<10)
	}
	return most
}

// processor is the time that the operators have had of processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var ticks int64
	for _, o := range operators() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.PID()))
		if err != nil {
			t.Fatalf("the operator has ended: %v", err)
		}
		// The second field is the program's name in parentheses and may hold blanks.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, field := range fields[11:13] { // utime and stime
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			ticks += n
		}
	}
	const perSecond = 100 // USER_HZ, which is 100 on all that Go runs on
	return time.Duration(ticks) * time.Second / perSecond
}
