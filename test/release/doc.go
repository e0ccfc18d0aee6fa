// Package release makes a release and installs from it: the image and the chart
// through a container registry on loopback, the plugin as krew does, the manifests
// with kubectl, and the Go client through a proxy of Go modules. That npm installs
// the JavaScript client is seen in test/js.
//
// It makes the release for the machine that it runs on alone; make release compiles
// for all.
package release
