// Package v1alpha1 holds the types of the API group graphview.dev: what users
// commit (GraphView, ReferenceRule) and what the operator answers in a status.
//
// It knows no other code of this project, no clients and no compiler: what an
// expression or a selector means is found by whoever compiles it. What can be
// checked by shape alone is checked by the CustomResourceDefinition that is
// generated from the markers here.
//
// The types are plain values. An object that came out of a cache is shared:
// deep-copy it before changing it.
//
// +kubebuilder:object:generate=true
// +groupName=graphview.dev
package v1alpha1
