package helm

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// SecretType is the type of Secrets with releases.
const SecretType = "helm.sh/release.v1" //nolint:gosec // a name

// NotEnded is a label selector for the Secrets of revisions that are deployed or pending. Helm
// labels all others with their final status.
var NotEnded = "status notin (" + strings.Join(ended, ",") + ")"

var ended = []string{"failed", "superseded", "uninstalled", "uninstalling", "unknown"}

// Ended reports whether the labels are those of a revision that is neither deployed nor pending.
func Ended(labels map[string]string) bool { return slices.Contains(ended, labels["status"]) }

// pending is the prefix of the status of a revision that Helm is about to deploy.
const pending = "pending-"

// Selector returns a label selector for the Secrets and ConfigMaps of a release's deployed and
// pending revisions. It includes pending ones, because Helm marks the old revision as superseded
// before it marks the new one as deployed.
func Selector(release string) string {
	return "owner=helm,name=" + release + ",status in (" + strings.Join(current, ",") + ")"
}

// Current reports whether the labels are those of a deployed or pending revision.
func Current(labels map[string]string) bool { return slices.Contains(current, labels["status"]) }

var current = []string{"deployed", pending + "install", pending + "rollback", pending + "upgrade"}

// Field is the field of a Secret or ConfigMap that holds the release.
const Field = "data.release"

// namePrefix is the prefix of the names of Helm's Secrets and ConfigMaps.
const namePrefix = "sh.helm.release.v1."

// Release is one revision of a release. The zero value manages nothing. Its JSON is that of a Reducer.
type Release struct {
	// Deployed: the status of the revision is deployed.
	Deployed bool `json:"deployed,omitempty"`
	// Pending: the revision is about to be deployed.
	Pending bool `json:"pending,omitempty"`
	// Fault is why the release could not be unpacked, "" if it was. It quotes nothing of the release.
	Fault string `json:"fault,omitempty"`
	// Manages are the objects of the manifest, in its order.
	Manages []Object `json:"manages,omitempty"`
}

// Object identifies an object that a release manages.
type Object struct {
	Group string `json:"g,omitempty"`
	Kind  string `json:"k"`
	// Namespace is that of the release if the manifest gives none. The caller ignores it for
	// cluster-scoped kinds.
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
}

// FaultPath is the path of Fault in the JSON that Read reads.
var FaultPath = []string{"reduced", "fault"}

// Read returns the Release of a Secret from a watch of releases, which has the JSON of a Reducer as a
// member.
func Read(object []byte) (Release, error) {
	var reduced struct {
		Release Release `json:"reduced"`
	}
	err := json.Unmarshal(object, &reduced)
	return reduced.Release, err
}

// Revision parses the name of a Secret or ConfigMap. ok is false if it is not a name that Helm
// gives. Helm counts from 1 and writes no leading zeros, so no two names are the same revision.
func Revision(name string) (release string, number uint64, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return "", 0, false
	}
	at := strings.LastIndex(rest, ".v")
	if at <= 0 || strings.HasPrefix(rest[at+2:], "0") {
		return "", 0, false
	}
	number, err := strconv.ParseUint(rest[at+2:], 10, 64)
	if err != nil {
		return "", 0, false
	}
	return rest[:at], number, true
}
