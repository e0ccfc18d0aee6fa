// Package operations tests what whoever operates the operator relies on, with the
// operator as config/default installs it: metrics and what documentation, the
// dashboard and the alerts say of them, health, profiles, the election of the
// replica that writes status, and its end.
package operations
