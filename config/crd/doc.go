// Package crd embeds the CustomResourceDefinitions of this folder, for programs that
// check manifests without a server.
package crd
