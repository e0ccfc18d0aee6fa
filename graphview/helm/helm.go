package helm

import (
	"encoding/json"
	"slices"
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

// Release is one revision of a release. The zero value manages nothing.
type Release struct {
	// Deployed: the status of the revision is deployed.
	Deployed bool
	// Pending: the revision is about to be deployed.
	Pending bool
	// Fault is why the release could not be unpacked, "" if it was. It quotes nothing of the release.
	Fault string
	// Manages are the objects of the manifest, in its order.
	Manages []Object
}

// Object identifies an object that a release manages.
type Object struct {
	Group, Kind string
	// Namespace is that of the release if the manifest gives none. The caller ignores it for
	// cluster-scoped kinds.
	Namespace, Name string
}

// kept is a Release as the Reducer writes it.
type kept struct {
	Deployed bool        `json:"deployed,omitempty"`
	Pending  bool        `json:"pending,omitempty"`
	Fault    string      `json:"fault,omitempty"`
	Manages  [][4]string `json:"manages,omitempty"`
}

// encode cannot fail: kept has only strings and booleans.
func (k *kept) encode() []byte {
	text, _ := json.Marshal(k)
	return text
}

// Read returns the Release from the decoded JSON of a Reducer.
func Read(value any) Release {
	tree, _ := value.(map[string]any)
	var r Release
	r.Deployed, _ = tree["deployed"].(bool)
	r.Pending, _ = tree["pending"].(bool)
	r.Fault = Fault(value)
	list, _ := tree["manages"].([]any)
	for _, element := range list {
		var o Object
		parts, _ := element.([]any)
		for i, into := range []*string{&o.Group, &o.Kind, &o.Namespace, &o.Name} {
			if i < len(parts) {
				*into, _ = parts[i].(string)
			}
		}
		if o.Kind != "" && o.Name != "" {
			r.Manages = append(r.Manages, o)
		}
	}
	return r
}

// Fault returns the Fault of the Release that Read returns, without the objects.
func Fault(value any) string {
	tree, _ := value.(map[string]any)
	fault, _ := tree["fault"].(string)
	return fault
}

// Revision parses the name of a Secret or ConfigMap. ok is false if it is not a name that Helm
// gives. Helm counts from 1 and writes no leading zeros, so no two names are the same revision.
func Revision(name string) (release string, number uint64, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return "", 0, false
	}
	at := strings.LastIndex(rest, ".v")
	if at <= 0 || at+2 == len(rest) || rest[at+2] == '0' || len(rest)-at > 20 {
		return "", 0, false
	}
	for _, digit := range []byte(rest[at+2:]) {
		if digit < '0' || digit > '9' {
			return "", 0, false
		}
		number = 10*number + uint64(digit-'0')
	}
	return rest[:at], number, true
}
