// Package configmaps serves ConfigMaps as an API server does, for tests that need lists and watches
// of one resource and no control plane.
package configmaps
