package stream

import (
	"net/url"
	"testing"
)

// TestPathWithin: a path behind the prefix of a cluster is one of the cluster's server. A path that
// the API server, which has authorized it, and a proxy might read differently is refused.
func TestPathWithin(t *testing.T) {
	prefix := versionPath + "/clusters/eu/proxy"
	for name, test := range map[string]struct{ path, want string }{
		"a graph":                      {prefix + versionPath + "/namespaces/shop/graphs/web", versionPath + "/namespaces/shop/graphs/web"},
		"a namespace named clusters":   {prefix + versionPath + "/namespaces/clusters/graphs/web", versionPath + "/namespaces/clusters/graphs/web"},
		"the root":                     {prefix, "/"},
		"the root, with a slash":       {prefix + "/", "/"},
		"an escaped letter":            {prefix + "/%61pis", "/apis"},
		"an escaped blank":             {prefix + "/a%20b", "/a b"},
		"another cluster":              {path: versionPath + "/clusters/us/proxy/apis"},
		"a name that begins alike":     {path: prefix + "s/apis"},
		"no slash behind the prefix":   {path: prefix + "apis"},
		"clusters of the cluster":      {path: prefix + versionPath + "/clusters/us/proxy/apis"},
		"the clusters of the cluster":  {path: prefix + versionPath + "/clusters"},
		"clusters, escaped":            {path: prefix + versionPath + "/%63lusters/us/proxy"},
		"two slashes":                  {path: prefix + "//apis"},
		"an escaped slash":             {path: prefix + "/namespaces/shop%2Fgraphs"},
		"an escaped dot":               {path: prefix + "/%2e%2e/secrets"},
		"an escaped backslash":         {path: prefix + "/..%5Csecrets"},
		"a dot segment":                {path: prefix + "/./apis"},
		"two dots":                     {path: prefix + "/../us/proxy"},
		"two dots at the end":          {path: prefix + "/apis/.."},
		"an escaped percent for a dot": {prefix + "/%252e", "/%2e"},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse("https://hub" + test.path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pathWithin(u, "eu")
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}
