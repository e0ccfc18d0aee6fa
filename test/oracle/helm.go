package oracle

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// largestRelease is the largest size of an unpacked release.
const largestRelease = 16 << 20

// helmRelease has the fields of a revision, as Helm stores it, that the oracle reads.
type helmRelease struct {
	Namespace string `json:"namespace"`
	Manifest  string `json:"manifest"`
	Info      struct {
		Status string `json:"status"`
	} `json:"info"`
}

var revisionName = regexp.MustCompile(`^sh\.helm\.release\.v1\.(.+)\.v(\d+)$`)

// helmReleases returns references to the objects that the releases among listed Secrets or ConfigMaps
// manage, by the key of the object of the newest deployed revision, or, without one, of
// the newest pending revision.
func helmReleases(items []unstructured.Unstructured) map[[2]string][]reference {
	type latest struct {
		number   uint64
		deployed bool
		item     *unstructured.Unstructured
	}
	newest := map[[2]string]latest{}
	for i := range items {
		item := &items[i]
		name := revisionName.FindStringSubmatch(item.GetName())
		if name == nil {
			continue
		}
		status := helmStatus(item)
		deployed := status == "deployed"
		if !deployed && !strings.HasPrefix(status, "pending-") {
			continue
		}
		number, err := strconv.ParseUint(name[2], 10, 64)
		key := [2]string{item.GetNamespace(), name[1]}
		before, ok := newest[key]
		if err == nil && (!ok || deployed && !before.deployed || deployed == before.deployed && number > before.number) {
			newest[key] = latest{number, deployed, item}
		}
	}
	managed := map[[2]string][]reference{}
	for _, l := range newest {
		release, err := unpackRelease(l.item)
		if err != nil {
			continue
		}
		found, err := release.manages(l.item.GetNamespace())
		if err != nil {
			continue
		}
		managed[[2]string{l.item.GetNamespace(), l.item.GetName()}] = found
	}
	return managed
}

// helmStatus returns the status of a release from its label or, without a label, from the release.
func helmStatus(item *unstructured.Unstructured) string {
	switch kind, _, _ := unstructured.NestedString(item.Object, "type"); {
	case item.GetKind() == "Secret" && kind != "helm.sh/release.v1":
		return ""
	case item.GetKind() == "ConfigMap" && item.GetLabels()["owner"] != "helm":
		return ""
	case item.GetKind() == "ConfigMap":
		return item.GetLabels()["status"]
	}
	if status := item.GetLabels()["status"]; status != "" {
		return status
	}
	release, err := unpackRelease(item)
	if err != nil {
		return ""
	}
	return release.Info.Status
}

func unpackRelease(item *unstructured.Unstructured) (*helmRelease, error) {
	text, _, _ := unstructured.NestedString(item.Object, "data", "release")
	data := []byte(text)
	layers := 1
	if item.GetKind() == "Secret" {
		layers = 2
	}
	var err error
	for range layers {
		if data, err = base64.StdEncoding.DecodeString(string(data)); err != nil {
			return nil, err
		}
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b, 0x08}) {
		unzipped, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(unzipped, largestRelease+1)); err != nil {
			return nil, err
		}
		if len(data) > largestRelease {
			return nil, errors.New("too large")
		}
	}
	var release helmRelease
	if err := json.Unmarshal(data, &release); err != nil {
		return nil, err
	}
	return &release, nil
}

// manages reads the documents of the manifest, and the items of lists in it.
func (r *helmRelease) manages(namespace string) ([]reference, error) {
	namespace = cmp.Or(r.Namespace, namespace)
	var found []reference
	add := func(o *unstructured.Unstructured) {
		to := o.GroupVersionKind().GroupKind()
		if to.Kind == "" || o.GetName() == "" {
			return
		}
		in := cmp.Or(o.GetNamespace(), namespace)
		found = append(found, reference{arc: "r", field: "data.release", to: schema.GroupKind{Group: to.Group, Kind: to.Kind}, namespace: in, name: o.GetName()})
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(r.Manifest))))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return nil, err
		}
		if !o.IsList() {
			add(&o)
			continue
		}
		_ = o.EachListItem(func(item runtime.Object) error {
			add(item.(*unstructured.Unstructured)) //nolint:forcetypeassert // EachListItem documents it
			return nil
		})
	}
}
