package graphview

import (
	"os"
	"testing"
)

func TestPingAPIServer(t *testing.T) {
	const idle, answer = "HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"
	t.Setenv(idle, "20") // by an administrator
	t.Setenv(answer, "")
	if err := os.Unsetenv(answer); err != nil {
		t.Fatal(err)
	}
	if err := PingAPIServer(); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv(idle) + " " + os.Getenv(answer); got != "20 5" {
		t.Errorf("seconds of silence and of waiting: %s, want 20 5", got)
	}
}
