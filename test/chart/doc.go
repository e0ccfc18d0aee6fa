// Package chart tests charts/graphview with Helm on a real control plane. It checks the
// chart's values, that the chart equals config/default by default, that the operator works
// with the granted rights and reports missing ones, and that an upgrade does not interrupt
// subscribers.
package chart
