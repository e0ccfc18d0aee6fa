package graphview

import (
	"fmt"
	"os"
)

// pings are the settings by which client-go finds that a connection to the API server carries nothing any
// more: seconds of silence before a ping, and until its answer. With its defaults, 30 and 15, subscribers
// would take a graph for current for a minute.
var pings = map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "10", "HTTP2_PING_TIMEOUT_SECONDS": "5"}

// PingAPIServer applies pings to the environment of the process, unless it has other values. A program
// calls it before it makes clients.
func PingAPIServer() error {
	for name, seconds := range pings {
		if _, ok := os.LookupEnv(name); ok {
			continue
		}
		if err := os.Setenv(name, seconds); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
