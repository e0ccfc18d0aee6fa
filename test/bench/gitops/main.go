package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gitops:", err)
		os.Exit(1)
	}
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "of the API server")
	out := flag.String("out", "", "file for the sample")
	settle := flag.Duration("settle", 0, "from synced to the reading of the memory")
	resources := flag.String("resources", "", "group/kind of the resources, separated by commas")
	manifests := flag.Bool("manifests", false, "keep the objects too, as Argo CD does of those that it manages")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1 // no client-side limit
	started := time.Now()
	held := cache.NewClusterCache(config,
		cache.SetLogr(logr.Discard()),
		cache.SetSettings(cache.Settings{ResourcesFilter: only(strings.Split(*resources, ","))}),
		cache.SetPopulateResourceInfoHandler(func(*unstructured.Unstructured, bool) (any, bool) { return nil, *manifests }),
	)
	if err := held.EnsureSynced(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	s := sample{Seconds: time.Since(started).Seconds()}
	if s.Processor, err = processorTime(); err != nil {
		return err
	}
	time.Sleep(*settle)
	if err := s.readMemory(); err != nil {
		return err
	}
	s.Objects = held.GetClusterInfo().ResourcesCount
	if s.Objects == 0 {
		return errors.New("the cache has no resources")
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the sample: %w", err)
	}
	return os.WriteFile(*out, text, 0o600)
}

// only is a filter that leaves everything out but some resources.
type only []string

// IsExcludedResource is asked about each kind that the API server has.
func (o only) IsExcludedResource(group, kind, _ string) bool {
	for _, wanted := range o {
		if wanted == group+"/"+kind {
			return false
		}
	}
	return true
}

var _ kube.ResourceFilter = only(nil)
