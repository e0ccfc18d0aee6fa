package env

import "testing"

// TestFreePorts: each caller gets different ports, even before it listens on them.
func TestFreePorts(t *testing.T) {
	const times, each = 200, 5
	seen := make(map[int]bool)
	for range times {
		ports, err := FreePorts(each)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if seen[port] {
				t.Errorf("port %d is found twice", port)
			}
			seen[port] = true
		}
	}
	if len(seen) != times*each {
		t.Errorf("%d ports, want %d", len(seen), times*each)
	}
}

// TestPortsOfOtherProcesses: no other process gets a port that this one got, although nothing listens on it.
func TestPortsOfOtherProcesses(t *testing.T) {
	ports, err := FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	// Each open file has a lock of its own, in this process too.
	lock, err := lockPort(ports[0])
	if err != nil || lock != nil {
		t.Errorf("port %d is locked again: %v", ports[0], err)
	}
}
