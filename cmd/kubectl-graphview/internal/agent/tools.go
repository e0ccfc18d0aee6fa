package agent

import "strconv"

// scope selects the graphs of one namespace or of all.
type scope struct {
	Namespace     string `json:"namespace,omitempty" jsonschema:"the namespace; without it that of the kubeconfig"`
	AllNamespaces bool   `json:"allNamespaces,omitempty" jsonschema:"all namespaces instead of one"`
}

type graphs struct{ scope }

type problems struct {
	scope
	Graph string `json:"graph,omitempty" jsonschema:"the name of one graph; without it all graphs of the namespace"`
}

type tree struct {
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace of the graph; without it that of the kubeconfig"`
	Graph     string `json:"graph" jsonschema:"the name of the graph"`
	Object    string `json:"object,omitempty" jsonschema:"KIND/NAME to begin with; without it the graph's roots"`
	Depth     int    `json:"depth,omitempty" jsonschema:"how many levels to draw; 0 is all"`
	Reverse   bool   `json:"reverse,omitempty" jsonschema:"draw below each object what owns it and what refers to it"`
	Missing   bool   `json:"missing,omitempty" jsonschema:"draw only what is missing, and what refers to it"`
}

type explain struct {
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace of the graph; without it that of the kubeconfig"`
	Graph     string `json:"graph" jsonschema:"the name of the graph"`
	Object    string `json:"object" jsonschema:"KIND/NAME"`
}

type impact struct {
	scope
	Object string `json:"object" jsonschema:"KIND/NAME"`
	Graph  string `json:"graph,omitempty" jsonschema:"look in this graph; without it in all that may be listed, which takes the ClusterRole graphview-requester"`
}

type changes struct {
	scope
	Object string `json:"object,omitempty" jsonschema:"KIND/NAME: its changes and those of what it leads to; without it those of the whole graph"`
	Since  string `json:"since,omitempty" jsonschema:"leave out older changes: a duration such as 2h, or a time such as 2006-01-02T15:04:05Z"`
	Graph  string `json:"graph,omitempty" jsonschema:"the name of one graph; without it all graphs of the namespace"`
}

// line is a command line. Text from outside is the value of a flag, in the same word, or
// follows "--", so that it is never parsed as a flag.
type line struct{ flags, names []string }

func command(verb, namespace string) *line {
	l := &line{flags: []string{verb}}
	l.flag("namespace", namespace)
	return l
}

func (l *line) flag(name, value string) {
	if value != "" {
		l.flags = append(l.flags, "--"+name+"="+value)
	}
}

func (l *line) when(name string, on bool) {
	if on {
		l.flags = append(l.flags, "--"+name)
	}
}

func (l *line) name(name string) {
	if name != "" {
		l.names = append(l.names, name)
	}
}

func (l *line) words() []string { return append(append(l.flags, "--"), l.names...) }

func (in graphs) args() []string {
	l := command("list", in.Namespace)
	l.when("all-namespaces", in.AllNamespaces)
	return l.words()
}

func (in problems) args() []string {
	l := command("problems", in.Namespace)
	l.when("all-namespaces", in.AllNamespaces)
	l.name(in.Graph)
	return l.words()
}

func (in tree) args() []string {
	l := command("tree", in.Namespace)
	l.when("reverse", in.Reverse)
	l.when("missing", in.Missing)
	if in.Depth != 0 {
		l.flag("depth", strconv.Itoa(in.Depth))
	}
	l.name(in.Graph)
	l.name(in.Object)
	return l.words()
}

func (in explain) args() []string {
	l := command("explain", in.Namespace)
	l.name(in.Graph)
	l.name(in.Object)
	return l.words()
}

func (in impact) args() []string {
	l := command("impact", in.Namespace)
	l.when("all-namespaces", in.AllNamespaces)
	l.flag("in", in.Graph)
	l.name(in.Object)
	return l.words()
}

func (in changes) args() []string {
	l := command("changes", in.Namespace)
	l.when("all-namespaces", in.AllNamespaces)
	l.flag("since", in.Since)
	l.name(in.Graph)
	l.name(in.Object)
	return l.words()
}
