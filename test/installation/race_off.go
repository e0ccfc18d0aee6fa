//go:build !race

package installation

const raceDetector = false
