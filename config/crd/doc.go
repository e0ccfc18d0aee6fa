// Package crd has the CustomResourceDefinitions as this folder does, for
// programs that check manifests where no server is to be asked. It knows nothing
// else.
package crd
