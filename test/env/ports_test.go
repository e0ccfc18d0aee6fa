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
