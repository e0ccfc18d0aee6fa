package refs

import (
	"errors"
	"strings"
	"sync"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

const (
	// maxRemotes bounds the references of one object to other clusters, and maxCluster the bytes of a
	// cluster's name.
	maxRemotes = 1000
	maxCluster = 512
)

// Remote is a reference to an object in another cluster, where for example an Application of Argo CD
// deploys it. Only that cluster knows whether the object exists.
type Remote struct {
	// Cluster is the referrer's name for the cluster: a scheme, a colon and a name, such as
	// argocd:https://eu-1.example.com.
	Cluster string
	// To, Namespace and Name are those of the object; all empty for the cluster itself.
	To              graph.Kind
	Namespace, Name string
}

// Remotes returns the references of an object to other clusters by the built-in table, at most
// 1,000.
func Remotes(kind graph.Kind, object map[string]any) []Remote {
	return remotes().remotes(kind, object)
}

func (x *Extractor) remotes(kind graph.Kind, object map[string]any) []Remote {
	own := x.kinds.of(kind)
	if own == nil {
		return nil
	}
	metadata, _ := object["metadata"].(map[string]any)
	e := extraction{kind: kind}
	e.namespace, _ = metadata["namespace"].(string)
	e.visit(own.root, object, 0)
	all := e.found.all
	found := make([]Remote, 0, min(len(all), maxRemotes))
	for i := range all[:min(len(all), maxRemotes)] {
		// emit writes the name of the other cluster into Field.
		found = append(found, Remote{Cluster: all[i].Field, To: all[i].To, Namespace: all[i].Namespace, Name: all[i].Name})
	}
	return found
}

// RemoteShape returns the fields that Remotes reads of a kind, or nil if the kind has no references to
// other clusters.
func RemoteShape(kind graph.Kind) *jsontree.Shape {
	if own := remotes().kinds.of(kind); own != nil {
		return own.shape
	}
	return nil
}

// remotes is the extractor of references to other clusters.
var remotes = sync.OnceValue(func() *Extractor {
	return mustNew(builtin().table.mustRules(func(graph.Kind) bool { return true }, true)...)
})

var errNoScheme = errors.New("expected scheme:field or scheme/field")

// remote says how to find the name of the cluster of a rule's targets.
type remote struct {
	scheme string
	within bool // the name begins with the object's namespace
	fields []companion
}

// compileRemote reads scheme:field,field or scheme/field,field. It returns nil for "".
func compileRemote(text string, path []step, base int) (*remote, error) {
	if text == "" {
		return nil, nil
	}
	end := strings.IndexAny(text, ":/")
	if end <= 0 {
		return nil, errNoScheme
	}
	r := &remote{scheme: text[:end], within: text[end] == '/'}
	for field := range strings.SplitSeq(text[end+1:], ",") {
		c, err := parseCompanion(field, path, base)
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, c)
	}
	return r, nil
}

// cluster returns the name of the cluster, "" if the object has none.
func (r *remote) cluster(namespace string, reached []any) string {
	for i := range r.fields {
		name, _ := r.fields[i].find(reached).(string)
		if name == "" {
			continue
		}
		if r.within {
			name = namespace + "/" + name
		}
		if name = r.scheme + ":" + name; len(name) <= maxCluster {
			return name
		}
	}
	return ""
}

// moveRemote applies move to the fields when a template is included.
func moveRemote(text string, move func(string) string) string {
	end := strings.IndexAny(text, ":/") + 1
	if end == 0 {
		return text
	}
	return text[:end] + moveCondition(text[end:], move)
}
