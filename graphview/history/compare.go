package history

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// Path is a field that changed.
type Path struct {
	// Path is the path below the object: spec.template.spec.containers[web].image. It is "" if the object changed
	// while nothing was recorded, so that its fields are not known.
	Path string
	// Op is Added, Removed or Changed.
	Op Op
	// Before and After are the values, if the field is on the list of valued, else "".
	Before, After string
}

const (
	// maxPaths bounds the paths that an entry has, maxPathBytes the length of each, and maxCounted the paths
	// that are counted.
	maxPaths, maxPathBytes, maxCounted = 16, 200, 1000
	// maxJoined bounds a path to which keys are joined, and each key: thousands of fields below a long key take no copy
	// of it each. It is more than maxPathBytes, since bounded replaces characters of up to three bytes by one.
	maxJoined = 4 * maxPathBytes
	// maxValue bounds the values that are kept.
	maxValue = 128
	maxDepth = 24
)

// valued are the fields whose values are kept: they name the software that runs, its amount and its
// place. None has a text that its author may have meant as a secret.
var valued = set(
	"image replicas minReplicas maxReplicas parallelism completions backoffLimit version appVersion targetRevision chart tag revision " +
		"type paused suspend suspended schedule cpu memory storage ephemeral-storage storageClassName volumeName accessModes " +
		"serviceAccountName nodeName schedulerName priorityClassName runtimeClassName ingressClassName gatewayClassName className " +
		"imagePullPolicy restartPolicy concurrencyPolicy updatePolicy port targetPort containerPort nodePort protocol " +
		"maxSurge maxUnavailable minAvailable weight terminationGracePeriodSeconds activeDeadlineSeconds progressDeadlineSeconds " +
		"initialDelaySeconds periodSeconds timeoutSeconds failureThreshold successThreshold unschedulable immutable " +
		"hostNetwork hostPID privileged runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation dnsPolicy clusterIP loadBalancerClass pods hard",
)

// hidden are the fields below which no value is kept, whatever it is called.
var hidden = set("data stringData binaryData env envFrom args command annotations values valuesObject valuesFrom parameters config settings credentials secret")

// named are the lists below hidden fields whose elements have names that are no values.
var named = set("env parameters")

// ignored are the fields that change by themselves, or that other entries report.
var ignored = set("apiVersion kind status metadata.resourceVersion metadata.generation metadata.uid metadata.creationTimestamp metadata.managedFields metadata.selfLink " +
	"metadata.ownerReferences metadata.annotations[control-plane.alpha.kubernetes.io/leader]")

// heartbeats are the fields of kinds that exist to be renewed.
var heartbeats = map[string]map[string]bool{
	"Lease": set("spec.renewTime spec.acquireTime spec.holderIdentity spec.leaseTransitions"), "Event": set("count lastTimestamp series metadata.managedFields"),
}

func set(words string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// comparison collects the fields that differ.
type comparison struct {
	beats   map[string]bool
	paths   []Path
	changes int
}

// Compare returns the fields of an object that changed, except for its status, and the number of further ones
// that do not fit. It takes the compact JSON of both versions, and decodes only members that differ.
func Compare(kind string, before, after []byte) (paths []Path, more int) {
	c := &comparison{beats: heartbeats[kind]}
	c.objects("", before, after, kind != "Secret" && kind != "ConfigMap", 0)
	slices.SortFunc(c.paths, func(a, b Path) int { return strings.Compare(a.Path, b.Path) })
	return c.paths, c.changes - len(c.paths)
}

// members returns the members of an object.
func members(object []byte) iter.Seq[jsontree.Member] {
	return func(yield func(jsontree.Member) bool) {
		s, ok := jsontree.ScanObject(object)
		if !ok {
			return
		}
		for m, more := s.Member(); more && yield(m); m, more = s.Member() {
		}
	}
}

// objects compares the members of two objects. Nearly always they have the same names in the same order; from the first other name
// on, members are found by their names.
func (c *comparison) objects(at string, before, after []byte, show bool, depth int) {
	compare := func(name, before, after []byte) {
		if !bytes.Equal(before, after) {
			key := string(name)
			c.values(member(at, key), key, before, after, show && !hidden[key], depth+1)
		}
	}
	olds, _ := jsontree.ScanObject(before)
	nows, _ := jsontree.ScanObject(after)
	old, isOld := olds.Member()
	now, isNow := nows.Member()
	for isOld && isNow && bytes.Equal(old.Name, now.Name) {
		compare(old.Name, old.Value, now.Value)
		old, isOld = olds.Member()
		now, isNow = nows.Member()
	}
	others := map[string][]byte{}
	for ; isNow; now, isNow = nows.Member() {
		others[string(now.Name)] = now.Value
	}
	for ; isOld; old, isOld = olds.Member() {
		compare(old.Name, old.Value, others[string(old.Name)])
		delete(others, string(old.Name))
	}
	for key, value := range others {
		compare([]byte(key), nil, value)
	}
}

// member returns the path of a member. A key that no field has, such as that of a label, is in brackets.
func member(at, key string) string {
	key = key[:min(len(key), maxJoined)]
	switch {
	case at == "":
		return key
	case len(at) > maxJoined:
		return at // bounded would cut the key off
	case strings.ContainsAny(key, "/[] ") || at == "metadata.labels" || at == "metadata.annotations":
		return elementPath(at, key)
	default:
		return at + "." + key
	}
}

// elementPath returns the path of an element of a list, by its name or index.
func elementPath(at, name string) string {
	if len(at) > maxJoined {
		return at
	}
	return at + "[" + name[:min(len(name), maxJoined)] + "]"
}

// values compares two different values of the field key; nil is none.
func (c *comparison) values(at, key string, before, after []byte, show bool, depth int) {
	switch {
	case c.changes >= maxCounted || ignored[at] || c.beats[at]:
	case before == nil:
		c.note(at, key, Added, nil, after, show)
	case after == nil:
		c.note(at, key, Removed, before, nil, show)
	case depth > maxDepth:
	case before[0] == '{' && after[0] == '{':
		c.objects(at, before, after, show, depth)
	case before[0] == '[' && after[0] == '[':
		c.lists(at, key, before, after, show, depth)
	default:
		c.note(at, key, Changed, before, after, show)
	}
}

// lists compares lists by the names of their elements, or else by index. Below hidden fields a member name may be a
// value as any other one.
func (c *comparison) lists(at, key string, before, after []byte, show bool, depth int) {
	old, now := jsontree.Elements(before), jsontree.Elements(after)
	oldNames, nowNames := namesOf(old), namesOf(now)
	compare := func(name string, b, a []byte) {
		if !bytes.Equal(b, a) {
			c.values(elementPath(at, name), key, b, a, show, depth+1)
		}
	}
	if oldNames == nil || nowNames == nil || !show && !named[key] {
		for i := range max(len(old), len(now)) {
			var b, a []byte
			if i < len(old) {
				b = old[i]
			}
			if i < len(now) {
				a = now[i]
			}
			compare(strconv.Itoa(i), b, a)
		}
		return
	}
	for _, element := range old {
		name := nameOf(element)
		var other []byte
		if i, both := nowNames[name]; both {
			other = now[i]
		}
		compare(name, element, other)
	}
	for _, element := range now {
		if name := nameOf(element); !has(oldNames, name) {
			compare(name, nil, element)
		}
	}
}

func has(names map[string]int, name string) bool {
	_, has := names[name]
	return has
}

// namesOf returns the elements of a list by their member name, nil if one has none or two have the same.
func namesOf(list [][]byte) map[string]int {
	all := make(map[string]int, len(list))
	for i, element := range list {
		name := nameOf(element)
		if name == "" || has(all, name) {
			return nil
		}
		all[name] = i
	}
	return all
}

// nameOf returns the member name of an element, "" for none.
func nameOf(element []byte) string {
	if len(element) == 0 || element[0] != '{' {
		return ""
	}
	for m := range members(element) {
		if string(m.Name) == "name" {
			name, _ := jsontree.String(m.Value)
			return string(name)
		}
	}
	return ""
}

// note adds a field.
func (c *comparison) note(at, key string, op Op, before, after []byte, show bool) {
	c.changes++
	if len(c.paths) == maxPaths {
		return
	}
	p := Path{Path: bounded(at), Op: op}
	if show && valued[key] {
		p.Before, p.After = value(before), value(after)
	}
	c.paths = append(c.paths, p)
}

// bounded returns a path that is short and that a terminal can print.
func bounded(path string) string {
	path = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, path)
	if len(path) <= maxPathBytes {
		return path
	}
	return strings.ToValidUTF8(path[:maxPathBytes-3], "") + "..."
}

// value returns a scalar as text. It returns "" for an array or an object, for a long text, and for a text that may have
// credentials, such as a URL.
func value(v []byte) string {
	if len(v) == 0 || v[0] == '{' || v[0] == '[' || v[0] == 'n' {
		return ""
	}
	text := string(v)
	if said, ok := jsontree.String(v); ok {
		text = string(said)
	}
	if len(text) > maxValue || hasCredentials(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}

// hasCredentials reports whether a text may have a user, a password or a token, as in https://USER:PASSWORD@HOST/?token=TOKEN.
// The digest of an image follows an @ too.
func hasCredentials(text string) bool {
	before, after, at := strings.Cut(text, "@")
	return at && (!strings.HasPrefix(after, "sha256:") && !strings.HasPrefix(after, "sha512:") || strings.Contains(after, "@")) ||
		strings.Contains(before, "://") && strings.ContainsAny(text, "?#")
}

// summarized are the annotations that a summary depends on.
var summarized = set("metadata.annotations[kustomize.toolkit.fluxcd.io/prune] metadata.annotations[helm.sh/resource-policy] metadata.annotations[argocd.argoproj.io/sync-options]")

// Summarized reports whether the summary of an object may depend on the fields that changed. Other annotations do
// not matter to it.
func Summarized(paths []Path, more int) bool {
	return more > 0 || slices.ContainsFunc(paths, func(p Path) bool {
		return !strings.HasPrefix(p.Path, "metadata.annotations[") || summarized[p.Path]
	})
}
