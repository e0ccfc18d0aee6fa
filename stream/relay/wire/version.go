package wire

import (
	"slices"
	"strings"
)

// Versions are the versions of the protocol that this replica speaks, separated by
// commas, the oldest one first. A version is added when an older replica would misread a
// message; what an older replica may ignore needs none, see [Type.Optional].
const Versions = "4"

// Header of an HTTP request has the versions that the edge speaks.
const Header = "Graphview-Relay"

// Path begins the path of each request of one replica to another.
const Path = "/relay"

// Pattern is the http.ServeMux pattern of a relay, with the name of the view.
const Pattern = "POST " + Path + "/namespaces/{namespace}/graphs/{name}"

// Negotiate returns the oldest version that both sides speak.
func Negotiate(own, offered string) (version string, ok bool) {
	others := strings.Split(offered, ",")
	for v := range strings.SplitSeq(own, ",") {
		if slices.Contains(others, v) {
			return v, true
		}
	}
	return "", false
}
