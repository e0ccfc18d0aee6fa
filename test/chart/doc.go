// Package chart tests charts/graphview with Helm itself, and what it installs on
// a real control plane: the chart's values, that it is the same as config/default
// where nothing is said, that the operator does its work with the rights that it
// grants and says which it misses, and that an upgrade disturbs nobody.
package chart
