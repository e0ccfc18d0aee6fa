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
	memory     int64 // the container's limit, in bytes
	goMemLimit int64 // what its Go runtime is told
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
					if s.goMemLimit, err = strconv.ParseInt(variable.Value, 10, 64); err != nil {
						return s, err
					}
				}
			}
		}
	}
	if s.memory == 0 || s.goMemLimit == 0 {
		return s, fmt.Errorf("config/manager has no limits: %+v", s)
	}
	return s, nil
}

// resetPeak resets the kernel's record of the operator's peak memory.
func resetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", manager.PID()), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// peak is the most memory that the operator has had resident since resetPeak.
func peak(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", manager.PID()))
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
	return kib << 10
}

// processor is the time that the operator has had of processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", manager.PID()))
	if err != nil {
		t.Fatalf("the operator has ended: %v", err)
	}
	var ticks int64
	// The second field is the program's name in parentheses and may hold blanks.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	const perSecond = 100 // USER_HZ, which is 100 on all that Go runs on
	return time.Duration(ticks) * time.Second / perSecond
}
