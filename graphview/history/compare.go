package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path is a field that changed.
type Path struct {
	// Path is the path below the object: spec.template.spec.containers[web].image.
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
	// maxValue bounds the values that are kept.
	maxValue = 128
	maxDepth = 24
)

// valued are the fields whose values are kept: those that say which software runs, how much of it, and
// where. None has a text that its author may have meant as a secret.
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
	valued  bool // values of this kind may be kept
	paths   []Path
	changes int
}

// Compare returns the fields of an object that changed, except for its status, and the number of those that
// do not fit.
func Compare(kind string, before, after map[string]any) (paths []Path, more int) {
	c := &comparison{beats: heartbeats[kind], valued: kind != "Secret" && kind != "ConfigMap"}
	c.objects("", before, after, c.valued, 0)
	return c.paths, c.changes - len(c.paths)
}

func (c *comparison) objects(at string, before, after map[string]any, show bool, depth int) {
	keys := make([]string, 0, len(after))
	for key := range before {
		keys = append(keys, key)
	}
	for key := range after {
		if _, both := before[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		b, had := before[key]
		a, has := after[key]
		c.values(member(at, key), key, b, a, had, has, show && !hidden[key], depth+1)
	}
}

// member returns the path of a member. A key that no field has, such as that of a label, is in brackets.
func member(at, key string) string {
	switch {
	case at == "":
		return key
	case strings.ContainsAny(key, "/[] ") || at == "metadata.labels" || at == "metadata.annotations":
		return at + "[" + key + "]"
	default:
		return at + "." + key
	}
}

// values compares two values of the field key.
func (c *comparison) values(at, key string, before, after any, had, has, show bool, depth int) {
	if c.changes >= maxCounted || ignored[at] || c.beats[at] {
		return
	}
	switch {
	case !had:
		c.note(at, key, Added, nil, after, show)
		return
	case !has:
		c.note(at, key, Removed, before, nil, show)
		return
	case depth > maxDepth:
		return
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			c.objects(at, b, a, show, depth)
			return
		}
	case []any:
		if a, ok := after.([]any); ok {
			c.lists(at, key, b, a, show, depth)
			return
		}
	default:
		if scalar(before) && scalar(after) && before == after {
			return
		}
	}
	c.note(at, key, Changed, before, after, show)
}

// lists compares lists by the names of their elements, or else by index.
func (c *comparison) lists(at, key string, before, after []any, show bool, depth int) {
	b, a, ok := byName(before), byName(after), true
	if ok = b != nil && a != nil; ok {
		for _, name := range names(before, after) {
			old, had := b[name]
			now, has := a[name]
			c.values(at+"["+name+"]", key, old, now, had, has, show, depth+1)
		}
		return
	}
	for i := range max(len(before), len(after)) {
		var old, now any
		if i < len(before) {
			old = before[i]
		}
		if i < len(after) {
			now = after[i]
		}
		c.values(at+"["+strconv.Itoa(i)+"]", key, old, now, i < len(before), i < len(after), show, depth+1)
	}
}

// byName returns the elements of a list by their member name, nil if one has none or two have the same.
func byName(list []any) map[string]any {
	if len(list) == 0 {
		return map[string]any{}
	}
	all := make(map[string]any, len(list))
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, ok := object["name"].(string)
		if _, twice := all[name]; !ok || twice {
			return nil
		}
		all[name] = element
	}
	return all
}

func names(before, after []any) []string {
	var all []string
	for _, element := range slices.Concat(before, after) {
		if name, _ := element.(map[string]any)["name"].(string); !slices.Contains(all, name) {
			all = append(all, name)
		}
		if len(all) >= maxCounted {
			break
		}
	}
	return all
}

func scalar(v any) bool {
	switch v.(type) {
	case nil, string, bool, float64, int64, json.Number:
		return true
	}
	return false
}

// note adds a field.
func (c *comparison) note(at, key string, op Op, before, after any, show bool) {
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

// value returns a scalar as text, "" for another value and for one that is too long.
func value(v any) string {
	if v == nil || !scalar(v) {
		return ""
	}
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if len(text) > maxValue || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}
