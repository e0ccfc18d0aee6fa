package graph

// requirements returns the number of requirements of the selectors of references.
func requirements(references []Reference) (n int) {
	for _, r := range references {
		if r.Selector != nil {
			more := len(r.Selector.Requirements)
			if r.Namespaces != nil {
				more += len(r.Namespaces.Requirements)
			}
			n += max(1, more)
		}
	}
	return n
}

// all returns the objects that a source sees, each once.
func (m *model) all() map[Key]Object {
	all := map[Key]Object{}
	for id, src := range m.sources {
		for _, o := range m.objects[id] {
			all[Key{src.resource, o.Namespace, o.Name}] = o
		}
	}
	return all
}

// countMatches counts the objects that the selectors of references match, once for each type.
func (m *model) countMatches(references []Reference) int {
	type match struct {
		typ  ArcType
		kind Kind
		name string
	}
	matches := map[match]bool{}
	for key, target := range m.all() {
		kind := m.kindOf(key.Resource)
		for _, r := range references {
			if r.Selector == nil || r.To != kind || !r.AllNamespaces && target.Namespace != r.Namespace || !r.Selector.Matches(target.Labels) {
				continue
			}
			if r.Namespaces == nil || target.Namespace != "" && m.selectsNamespace(r.Namespaces, target.Namespace) {
				matches[match{r.Type, kind, target.Namespace + "/" + target.Name}] = true
			}
		}
	}
	return len(matches)
}

// selectsNamespace reports whether a selector selects a namespace.
func (m *model) selectsNamespace(s *Selector, namespace string) bool {
	for key, o := range m.all() {
		if m.kindOf(key.Resource) == NamespaceKind && o.Name == namespace && s.Matches(o.Labels) {
			return true
		}
	}
	return false
}

// countMatched counts the matches of each namespace's selectors that are not left out.
func (m *model) countMatched() map[string]int {
	totals := map[string]int{}
	for k, o := range m.all() {
		if !m.unselected[k] {
			totals[k.Namespace] += m.countMatches(o.References)
		}
	}
	return totals
}

// countNames counts what references name.
func countNames(references []Reference) int {
	type target struct {
		typ  ArcType
		to   Kind
		name string
	}
	targets := map[target]bool{}
	for _, r := range references {
		if r.Name != "" {
			targets[target{r.Type, r.To, r.Name}] = true
		}
	}
	return len(targets)
}

// countNamed counts what the references of each namespace's objects name, without those that are left out.
func (m *model) countNamed() map[string]int {
	totals := map[string]int{}
	for k, o := range m.all() {
		if !m.unnamed[k] {
			totals[k.Namespace] += countNames(o.References)
		}
	}
	return totals
}
