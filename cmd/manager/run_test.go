package main

import "testing"

// TestNamespace: the operator does not run where the cluster keeps its own.
func TestNamespace(t *testing.T) {
	for name, wantErr := range map[string]bool{"graphview-system": false, "kubernetes": false, "kube-system": true, "kube-public": true, "kube-node-lease": true} {
		if err := checkNamespace(name); (err != nil) != wantErr {
			t.Errorf("%s: %v", name, err)
		}
	}
}
