package helm

import (
	"encoding/json"
	"slices"
	"strings"
)

// SecretType is the type of the Secrets that Helm keeps releases in.
const SecretType = "helm.sh/release.v1" //nolint:gosec // a name

// NotEnded is a label selector for the Secrets of revisions that are deployed, or
// about to be: Helm labels all the others with what became of them.
var NotEnded = "status notin (" + strings.Join(ended, ",") + ")"

var ended = []string{"failed", "superseded", "uninstalled", "uninstalling", "unknown"}

// Ended tells whether a revision with these labels has become something else than
// deployed.
func Ended(labels map[string]string) bool { return slices.Contains(ended, labels["status"]) }

// pending is how the words begin for a revision that is about to be deployed.
const pending = "pending-"

// Selector is a label selector for the Secrets and ConfigMaps of a release's revisions
// that are deployed, or about to be. Both count: Helm says of the old one that it is
// superseded before it says of the new one that it is deployed.
func Selector(release string) string {
	return "owner=helm,name=" + release + ",status in (" + strings.Join(current, ",") + ")"
}

// Current tells whether the label of a revision says that it is deployed, or about to be.
func Current(labels map[string]string) bool { return slices.Contains(current, labels["status"]) }

var current = []string{"deployed", pending + "install", pending + "rollback", pending + "upgrade"}

// Field is where a Secret or ConfigMap has its release.
const Field = "data.release"

// namePrefix is how the names of all revisions begin that Helm keeps.
const namePrefix = "sh.helm.release.v1."

// Release is what is kept of one revision of a release. Its zero value manages
// nothing.
type Release struct {
	// Deployed: this revision is, or was until another took its place.
	Deployed bool
	// Pending: it is about to be.
	Pending bool
	// Fault says why the release could not be unpacked, "" if it could be. It
	// holds nothing of it.
	Fault string
	// Manages are the objects of the manifest, in its order.
	Manages []Object
}

// Object is something that a release manages.
type Object struct {
	Group, Kind string
	// Namespace is the release's own where the manifest gives none, for whoever
	// knows whether the kind has one.
	Namespace, Name string
}

// kept is a Release as the Reducer writes it.
type kept struct {
	Deployed bool        `json:"deployed,omitempty"`
	Pending  bool        `json:"pending,omitempty"`
	Fault    string      `json:"fault,omitempty"`
	Manages  [][4]string `json:"manages,omitempty"`
}

// encode cannot fail: there is nothing in it but strings.
func (k *kept) encode() []byte {
	text, _ := json.Marshal(k)
	return text
}

// Read takes a Release from what a Reducer made of it, decoded.
func Read(value any) Release {
	tree, _ := value.(map[string]any)
	var r Release
	r.Deployed, _ = tree["deployed"].(bool)
	r.Pending, _ = tree["pending"].(bool)
	r.Fault, _ = tree["fault"].(string)
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

// Revision returns which revision of which release an object of that name is; ok
// is false where Helm names nothing so: it counts from 1, and writes no leading zeros,
// so that no two names are one revision.
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
