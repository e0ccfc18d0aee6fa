package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/go-logr/logr"
	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

// task has the fields of the benchmark's task that apply, and sample those of its sample.
type task struct {
	Kubeconfig, Out string
	Settle          time.Duration
	Resources       only
}

type sample struct {
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor"`
	Objects   int     `json:"objects"`
	Resident  uint64  `json:"resident"`
	Heap      uint64  `json:"heap"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gitops:", err)
		os.Exit(1)
	}
}

func run() error {
	var t task
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &t); err != nil {
		return fmt.Errorf("the last argument is no task: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", t.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1 // no client-side limit
	started := time.Now()
	all := cache.NewClusterCache(config,
		cache.SetLogr(logr.Discard()),
		cache.SetSettings(cache.Settings{ResourcesFilter: t.Resources}),
		// false: the cache keeps no manifests.
		cache.SetPopulateResourceInfoHandler(func(*unstructured.Unstructured, bool) (any, bool) { return nil, false }),
	)
	if err := all.EnsureSynced(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	s := sample{Seconds: time.Since(started).Seconds()}
	if err := s.readProcess(t.Settle); err != nil {
		return fmt.Errorf("read the memory of this process: %w", err)
	}
	s.Objects = all.GetClusterInfo().ResourcesCount
	if s.Objects == 0 {
		return errors.New("the cache has no resources")
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the sample: %w", err)
	}
	return os.WriteFile(t.Out, text, 0o600)
}

// readProcess reads the processor time, the memory once it has settled, and the heap
// after a garbage collection.
func (s *sample) readProcess(settle time.Duration) error {
	self, err := procfs.Self()
	if err != nil {
		return err
	}
	used, err := self.Stat()
	if err != nil {
		return err
	}
	s.Processor = used.CPUTime()
	time.Sleep(settle)
	status, err := self.NewStatus()
	if err != nil {
		return err
	}
	s.Resident = status.VmRSS
	debug.FreeOSMemory()
	debug.FreeOSMemory() // the second collection frees objects with a finalizer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	return nil
}

// only is a filter that excludes all resources but some, as group/kind.
type only []string

// IsExcludedResource reports whether the cache ignores a kind of the API server.
func (o only) IsExcludedResource(group, kind, _ string) bool {
	return !slices.Contains(o, group+"/"+kind)
}

var _ kube.ResourceFilter = only(nil)
