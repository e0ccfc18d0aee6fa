package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"k8s.io/client-go/discovery"

	"graphview.dev/test/env"
)

// machine is what the numbers depend on and readers have to know.
type machine struct {
	cores              int
	processor          string
	memory             uint64 // bytes
	goVersion, cluster string
}

func describe(plane *env.ControlPlane) (machine, error) {
	m := machine{cores: runtime.NumCPU(), goVersion: runtime.Version(), processor: runtime.GOARCH}
	client, err := discovery.NewDiscoveryClientForConfig(plane.Config())
	if err != nil {
		return m, fmt.Errorf("client: %w", err)
	}
	version, err := client.ServerVersion()
	if err != nil {
		return m, fmt.Errorf("version of the API server: %w", err)
	}
	m.cluster = version.GitVersion
	if name, ok := field("/proc/cpuinfo", "model name"); ok {
		m.processor = name
	}
	if size, ok := field("/proc/meminfo", "MemTotal"); ok {
		number, _ := strings.CutSuffix(size, " kB")
		kilobytes, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return m, fmt.Errorf("memory of the machine: %w", err)
		}
		m.memory = kilobytes << 10
	}
	return m, nil
}

// field returns the first value of a name in a file of lines `name: value`.
func field(path, name string) (string, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

func (m machine) String() string {
	return fmt.Sprintf("%d cores (%s), %.0f GB of memory, %s, Kubernetes %s",
		m.cores, m.processor, float64(m.memory)/1e9, m.goVersion, m.cluster)
}
