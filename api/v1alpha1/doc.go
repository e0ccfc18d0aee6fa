// Package v1alpha1 has the types of the API group graphview.dev: the specs that users
// commit (GraphView, ReferenceRule, ClusterLink) and the status that the operator writes.
//
// It imports no other package of this project and no client. The markers in this
// package generate the CustomResourceDefinitions, which check the shape of an object.
// The operator compiles expressions and selectors, and reports errors in the status.
//
// Objects from a cache are shared: deep-copy them before you change them.
//
// +kubebuilder:object:generate=true
// +groupName=graphview.dev
package v1alpha1
