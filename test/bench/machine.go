package main

import (
	"fmt"
	"runtime"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/discovery"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// machine is what the numbers depend on and readers have to know.
type machine struct {
	cores              int
	processor          string
	memory             uint64 // bytes
	goVersion, cluster string
}

func describe(plane *env.ControlPlane) machine {
	m := machine{cores: runtime.NumCPU(), goVersion: runtime.Version(), processor: runtime.GOARCH}
	client := must.Get(discovery.NewDiscoveryClientForConfig(plane.Config()))
	version := must.Get(client.ServerVersion())
	m.cluster = version.GitVersion
	proc := must.Get(procfs.NewDefaultFS())
	if processors := must.Get(proc.CPUInfo()); len(processors) > 0 && processors[0].ModelName != "" {
		m.processor = processors[0].ModelName
	}
	if memory := must.Get(proc.Meminfo()); memory.MemTotalBytes != nil {
		m.memory = *memory.MemTotalBytes
	}
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("%d cores (%s), %.0f GB of memory, %s, Kubernetes %s",
		m.cores, m.processor, float64(m.memory)/1e9, m.goVersion, m.cluster)
}
