package protobuf

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// transcode returns the object of an answer as JSON, and its identity.
func transcode(t *testing.T, answer []byte) (object string, r *Reader, err error) {
	t.Helper()
	apiVersion, kind, raw, err := Unwrap(answer)
	if err != nil {
		return "", nil, err
	}
	m := ForKind(schema.FromAPIVersionAndKind(string(apiVersion), string(kind)))
	if m == nil {
		return "", nil, errUnsupported
	}
	r = &Reader{}
	out := appendString([]byte(`{"kind":`), kind)
	out = appendString(append(out, `,"apiVersion":`...), apiVersion)
	out, err = r.AppendMembers(out, m, raw)
	return string(append(out, '}')), r, err
}

// stripped returns compact JSON without the managedFields of the object.
func stripped(t *testing.T, text []byte) string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(compact.String(), `,"managedFields":[`)
	if !ok {
		t.Fatal("without managedFields")
	}
	_, after, _ = strings.Cut(after, `]`) // golden ones have no list within
	return before + after
}

// golden returns the folder of golden files that Kubernetes publishes with its types: of each version the
// objects that differ from those of the next.
func golden(t testing.TB) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatalf("module k8s.io/api: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "testdata")
}

// removed has the reasons for which golden objects of older versions are read as JSON: fields that were
// removed before they were stable.
var removed = []string{
	"v1.PodSpec has a field 42 that this version does not know",                           // 1.35, workloadRef
	"v1.NodeAllocatableResourceClaimStatus has a field 3 that this version does not know", // 1.36
	"v1.Device has a field 13 that this version does not know",                            // 1.36, in three versions
	"v1beta1.BasicDevice has a field 12 that this version does not know",
	"v1beta2.Device has a field 13 that this version does not know",
	"v1alpha3.DeviceTaintSelector has a field 1 that this version does not know", // 1.33 and 1.34, deviceClassName
}

// required are fields without omitempty that older versions do not have. An API server of this version
// would send null.
var required = []string{`"stubPKCS10Request":null,`} // PodCertificateRequest, since 1.36

// withoutClaimKinds leaves out the kinds of claims within StatefulSets, which API servers write and golden files do
// not have. The integration test compares them.
func withoutClaimKinds(text string) string {
	const claim = `{"kind":"PersistentVolumeClaim","apiVersion":"v1",`
	return strings.NewReplacer("["+claim, "[{", ","+claim, ",{").Replace(text)
}

// isObject reports whether a Go type of a kind is known and has the metadata of an object.
func isObject(kind schema.GroupVersionKind) bool {
	t, ok := scheme.Scheme.AllKnownTypes()[kind]
	if !ok {
		return false
	}
	_, ok = reflect.TypeAssert[metav1.ObjectMetaAccessor](reflect.New(t))
	return ok
}

func TestGolden(t *testing.T) {
	versions, err := os.ReadDir(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		if !version.IsDir() {
			continue
		}
		t.Run(version.Name(), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(golden(t), version.Name(), "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			equal := 0
			for _, file := range files {
				if strings.Contains(file, ".after_roundtrip.") {
					continue // of another program
				}
				if checkGolden(t, file, version.Name() == "HEAD") {
					equal++
				}
			}
			t.Logf("%d of %d are equal", equal, len(files))
			if equal < 30 {
				t.Errorf("only %d of %d files were compared", equal, len(files))
			}
		})
	}
}

// checkGolden compares a golden object in both encodings, and reports whether it is read in Protobuf.
func checkGolden(t *testing.T, file string, newest bool) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := os.ReadFile(strings.TrimSuffix(file, "json") + "pb")
	if err != nil {
		t.Fatal(err)
	}
	var of metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	kind := of.GroupVersionKind()
	got, r, err := transcode(t, encoded)
	switch {
	case errors.Is(err, errUnsupported) && !isObject(kind):
		return false
	case err != nil && !newest && slices.Contains(removed, err.Error()):
		return false
	case err != nil:
		t.Errorf("%s: %v", filepath.Base(file), err)
		return false
	}
	compared := withoutClaimKinds(got)
	for _, member := range required {
		if !newest {
			compared = strings.ReplaceAll(compared, member, "")
		}
	}
	if diff := cmp.Diff(stripped(t, text), compared); diff != "" {
		t.Errorf("%s (-JSON +Protobuf):\n%s", filepath.Base(file), diff)
	}
	if string(r.Name) != of.Name || string(r.Namespace) != of.Namespace || string(r.UID) != string(of.UID) || string(r.ResourceVersion) != of.ResourceVersion {
		t.Errorf("%s: identity %s, %s, %s, %s", filepath.Base(file), r.Name, r.Namespace, r.UID, r.ResourceVersion)
	}
	if got := got[r.VersionStart:r.VersionEnd]; got != `,"resourceVersion":"`+of.ResourceVersion+`"` {
		t.Errorf("%s: the version is %s", filepath.Base(file), got)
	}
	return true
}

// TestTables checks that all objects of k8s.io/api have a table, so that none is read as JSON unnoticed.
func TestTables(t *testing.T) {
	for kind := range scheme.Scheme.AllKnownTypes() {
		if known := ForKind(kind) != nil; known != isObject(kind) {
			t.Errorf("%s has a table: %t", kind, known)
		}
	}
	if ForKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}) != nil {
		t.Error("a custom resource has a table")
	}
}
