// Package operations tests the operator, as config/default installs it, for its
// administrators: metrics, and their use in documentation, dashboard and alerts; health
// probes; profiles; the election of the replica that writes status; and shutdown.
package operations
