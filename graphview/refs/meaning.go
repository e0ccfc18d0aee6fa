package refs

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// external is the domain of Config Connector, and externalServices that of the controllers of AWS. Their
// keys name kinds of their own: a secretRef refers to a SecretManagerSecret.
const (
	configConnectorDomain = "cnrm.cloud.google.com"
	externalServices      = "services.k8s.aws"
)

func isExternal(group string) bool {
	return strings.HasSuffix(group, configConnectorDomain) || strings.HasSuffix(group, externalServices)
}

// isNewWord has words that, before the name of a kind, mean no object of the cluster: newTunnel.
var isNewWord = set("new")

// isNoNameWord has the last words of keys whose values are never names of objects.
var isNoNameWord = set("annotation", "domain", "format", "group", "image", "interval", "key", "kind", "label", "mode", "namespace", "path", "pattern",
	"port", "prefix", "protocol", "suffix", "timeout", "type", "version")

// isNoName reports whether the value of a key is not a name: its last word says so, or it is too long.
func isNoName(key string) bool {
	if len(key) > 2*maxLabel {
		return true
	}
	words := wordsOf(key)
	if len(words) > 1 && words[len(words)-1] == "name" && words[0] == "generate" {
		return true
	}
	return len(words) > 0 && isNoNameWord[strings.TrimSuffix(words[len(words)-1], "s")]
}

// meaning has the kinds that a key may refer to.
type meaning struct {
	// targets are the kinds, the most likely first.
	targets []graph.Reference
	// sure means that the key leaves no doubt: the reference exists even if its target
	// does not.
	sure bool
	// kind means that the key is the name of its only target, without Ref. In an object of
	// that kind it holds an external name of the object itself.
	kind bool
	// hints are further kinds that the key may mean.
	hints []graph.Reference
	// other means that a text at the key is not a name: the key ends in a word such as group.
	other bool
}

// meaning returns the kinds that a key may refer to. It tries, in this order: kinds of the group that
// have the key as their name or at its end, with those of Kubernetes unless the group has that name;
// kinds of other groups of the domain; and the end of the key.
func (s *Served) meaning(group, key string) meaning {
	// A longer key is not the name of a kind with a few further words.
	if s == nil || len(key) > 2*maxLabel {
		return meaning{}
	}
	at := keyOf{group, key}
	s.mu.RLock()
	found, ok := s.known[at]
	s.mu.RUnlock()
	if ok {
		return found
	}
	words := wordsOf(key)
	found = s.lookUp(group, words)
	if !found.sure && (len(found.targets) == 0 || isRelation[key]) && !isExternal(group) {
		found.hints, found.other = s.hints(group, words), isNoName(key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Keys of maps are arbitrary. Beyond the bound, a key is looked up each time.
	if len(s.known) < maxKnown {
		s.known[keyOf{strings.Clone(group), strings.Clone(key)}] = found
	}
	return found
}

func (s *Served) lookUp(group string, all []string) meaning {
	words := stem(all)
	own, near, every := cmp.Or(s.groups[group], &vocabulary{}), cmp.Or(s.domains[DomainOf(group)], &vocabulary{}), cmp.Or(s.domains[allDomains], &vocabulary{})
	if len(words) == 0 || len(words) == 1 && isNoNameWord[words[0]] && (len(all) == 1 || own.exact[words[0]] == nil && own.ends[words[0]] == nil) {
		return meaning{}
	}
	core := commonWords
	if isExternal(group) {
		core = nil
	}
	isRef, isNamed := slices.ContainsFunc(all[len(words):], isReference), len(words) < len(all)
	if last := len(words) - 1; isRef && last > 0 && words[last] == "id" {
		words = words[:last] // groupIdRef
	}
	for _, form := range [...][]string{words, singular(words)} {
		if form == nil {
			continue
		}
		word := strings.Join(form, "")
		exact := own.exact[word]
		found := s.references(exact, own.ends[word])
		// A whole name in the domain says more than the end of one in the own group.
		if whole := nearest(group, near.exact[word]); isRef && len(exact) == 0 && len(whole) > 0 && core[word].To.Kind == "" {
			return meaning{targets: s.references(whole), sure: len(whole) == 1}
		}
		if target, ok := core[word]; ok && len(exact) == 0 {
			if found == nil {
				found = s.references(near.ends[word])
			}
			return meaning{targets: append(found, target), sure: len(found) == 0 && isCertain(form, target.To.Kind, isNamed)}
		}
		if len(found) > 1 && len(exact) == 0 {
			found = s.references(own.plain(word, own.ends[word]))
		}
		if found != nil {
			isCluster := isNamed && word == "cluster"
			distinct := isCluster || isRef && len(word) >= shortestEnd || len(form) > 1 && len(exact) == 1
			return meaning{targets: found, sure: distinct && len(found) == 1, kind: !isRef && len(found) == 1}
		}
		for i, kinds := range [...][]graph.Kind{near.exact[word], near.ends[word], every.exact[word]} {
			if found := s.references(nearest(group, kinds)); found != nil && (i < 2 || len(form) > 1) {
				return meaning{targets: found}
			}
		}
		if found := s.byEnd(own, core, form, isNamed); len(found.targets) > 0 {
			return found
		}
	}
	if isRef && !isExternal(group) && isSecretive(words[len(words)-1]) {
		return meaning{targets: []graph.Reference{kinds["Secret"]}, sure: true}
	}
	return s.byLetters(core, every, words)
}

// byLetters returns the kind that a key ends in, for keys whose words name none.
func (s *Served) byLetters(core map[string]graph.Reference, every *vocabulary, words []string) meaning {
	for _, end := range [...]string{"configmap", "secret", "serviceaccount", "storageclass"} { // dbsecret
		if strings.HasSuffix(words[len(words)-1], end) {
			return meaning{targets: []graph.Reference{core[end]}, sure: true}
		}
	}
	for _, form := range [...][]string{words, singular(words)} {
		word := strings.Join(form, "")
		if found := s.references(every.ends[word]); len(found) == 1 && len(word) >= shortestFar {
			return meaning{targets: found}
		}
	}
	return meaning{}
}

// byEnd returns the kinds that the last words of a key name, trying more words first. If there are none,
// it tries the words before a last word such as resource.
func (s *Served) byEnd(own *vocabulary, core map[string]graph.Reference, form []string, isNamed bool) meaning {
	for i := 1; i < len(form); i++ {
		end := strings.Join(form[i:], "")
		long := len(end) > shortestEnd && !isNewWord[form[i-1]]
		exact := own.exact[end]
		if target, ok := core[end]; ok && (exact == nil || !long) {
			return meaning{targets: []graph.Reference{target}, sure: isCertain(form, target.To.Kind, isNamed)}
		}
		ends := own.ends[end]
		if isNoNameWord[form[len(form)-1]] {
			ends = nil
		}
		if found := s.references(exact, ends); found != nil && long {
			if len(exact) == 0 {
				found = s.references(own.plain(end, ends))
			}
			isCluster := isNamed && end == "cluster"
			return meaning{targets: found, sure: len(found) == 1 && form[i-1] != "external" && (isCluster || len(form)-i > 1 && len(exact) == 1)}
		}
	}
	last := len(form) - 1
	if last == 0 || !isInstance[form[last]] {
		return meaning{}
	}
	found := s.references(own.exact[strings.Join(form[:last], "")])
	return meaning{targets: found, sure: last > 1 && len(found) == 1}
}

// means returns the meaning of a field of the current object. The keys from and ref, and the texts in a map of
// Secrets, ConfigMaps or classes have the meaning of the parent's key. The key className has the meaning of the
// parent's key followed by ClassName.
func (g *conventionReader) means(key string, isText bool) meaning {
	found := g.served.meaning(g.kind.Group, key)
	depth := len(g.path)
	if key == "secret" && depth > 1 && isLiteral[g.path[depth-2]] {
		found.sure = false // client: {secret: x} is clientSecret
	}
	if len(found.targets) > 0 || depth < 2 || g.path[depth-1] == "" {
		return found
	}
	var above meaning
	switch parent := g.path[depth-2]; {
	case key == "className" && parent != "":
		above = g.served.meaning(g.kind.Group, parent+"ClassName")
	case !isText && (key == "from" || key == "ref"):
		above = g.served.meaning(g.kind.Group, parent)
	case isText && strings.HasSuffix(parent, "s"):
		above = g.served.meaning(g.kind.Group, parent)
		if len(above.targets) != 1 || !namesStandInMaps(above.targets[0].To) {
			return found
		}
	}
	if len(above.targets) > 0 {
		return meaning{targets: above.targets}
	}
	return found
}

// namesStandInMaps reports whether a map of texts holds names of objects if its key names this kind.
func namesStandInMaps(kind graph.Kind) bool {
	return kind == kinds["Secret"].To || kind == kinds["ConfigMap"].To || kubernetesGroups[kind.Group] && strings.HasSuffix(kind.Kind, "Class")
}

// isInstance are words after the name of a kind that do not change the meaning of a key.
var isInstance = set("cluster", "cr", "instance", "object", "resource", "selector")

// isLiteral are words before secret in keys that hold the secret text itself.
var isLiteral = set("api", "app", "client", "consumer", "cookie", "hmac", "jwt", "session", "shared", "webhook")

// isCertain reports whether a key's words leave no doubt that it names an object of a kind of
// Kubernetes: a Secret, a class or a ServiceAccount, or another kind with a name of two words or
// more, if the key has further words.
func isCertain(words []string, kind string, isNamed bool) bool {
	last := len(words) - 1
	if words[last] == "secret" {
		return isNamed || last == 0 || !isLiteral[words[last-1]]
	}
	before, ok := strings.CutSuffix(strings.Join(words, ""), strings.ToLower(kind))
	return words[last] == "pvc" || ok && len(wordsOf(kind)) > 1 && (isNamed || before != "" || kind == "ServiceAccount" || strings.HasSuffix(kind, "Class"))
}

// references returns a reference for each kind, in order.
func (s *Served) references(lists ...[]graph.Kind) []graph.Reference {
	var targets []graph.Reference
	for _, kind := range slices.Concat(lists...) {
		targets = append(targets, graph.Reference{To: kind, Scope: s.scopes[kind]})
	}
	return targets
}

// plain returns the kind that has only a prefix before word, if most kinds of the group have that
// prefix: HumioCluster, not HumioExternalCluster. Without such a kind it returns all.
func (v *vocabulary) plain(word string, of []graph.Kind) []graph.Kind {
	for i, kind := range of {
		first, ok := strings.CutSuffix(strings.ToLower(kind.Kind), word)
		if ok && first != "" && 2*v.first[first] > v.first[""] {
			return of[i : i+1]
		}
	}
	return of
}

// stem returns the words of a key without those at its end that mark a reference, such as ref and name.
func stem(words []string) []string {
	for len(words) > 0 && (isReference(words[len(words)-1]) || words[len(words)-1] == "name" || words[len(words)-1] == "names") {
		words = words[:len(words)-1]
	}
	return words
}

// isReference reports whether a word of a key marks a reference.
func isReference(word string) bool {
	return word == "ref" || word == "refs" || word == "reference" || word == "references"
}

// singular returns the singular of a plural, nil if words are not a plural.
func singular(words []string) []string {
	last := words[len(words)-1]
	switch {
	case strings.HasSuffix(last, "ies"):
		last = strings.TrimSuffix(last, "ies") + "y"
	case strings.HasSuffix(last, "ie"): // the key of a list's element has no s
		last = strings.TrimSuffix(last, "ie") + "y"
	case strings.HasSuffix(last, "sse") || strings.HasSuffix(last, "sses"):
		last = last[:strings.LastIndex(last, "ss")+2]
	case strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss"):
		last = strings.TrimSuffix(last, "s")
	default:
		return nil
	}
	return append(slices.Clone(words[:len(words)-1]), last)
}

// nearest returns the kinds whose groups share the most labels with a group, from the end: groups of one
// publisher can be siblings with kinds of the same name.
func nearest(group string, of []graph.Kind) (found []graph.Kind) {
	labels, most := strings.Split(group, "."), 0
	for _, kind := range of {
		shared, others := 0, strings.Split(kind.Group, ".")
		for shared < min(len(labels), len(others)) && labels[len(labels)-1-shared] == others[len(others)-1-shared] {
			shared++
		}
		if shared > most {
			found, most = nil, shared
		}
		if shared == most {
			found = append(found, kind)
		}
	}
	return found
}
