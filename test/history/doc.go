// Package history breaks an application on a real control plane with a controller manager, and looks for the cause with
// the built plugin, in the history of the built operator. It also asks for graphs and problems as they were.
//
// It also kills the operator, and looks for the changes that were made before the next one ran.
//
// There is no kubelet: the tests write the status of pods and the events of the kubelet, the scheduler and cert-manager
// in their place.
package history
