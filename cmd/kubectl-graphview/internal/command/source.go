package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graphview.dev/client"
)

// source is where a command finds its graphs: at the operator of the cluster, or in this process, with --local or
// --from. The RunE of the command is that of its source.
type source struct {
	cli *cli
	// parse reads the arguments.
	parse parser
	// adHoc reports whether the command describes its view with flags, and reads no GraphView from a file.
	adHoc bool
	// withoutManifests reports whether the command has no --from.
	withoutManifests bool
	// follows reports whether the command runs until it is interrupted, and follows the files of --from.
	follows bool
	// verdict reports whether the exit code depends on the graph, so that the command waits longer for each resource,
	// and has --allow.
	verdict bool
}

// runFunc carries a command out.
type runFunc func(cmd *cobra.Command, t target) error

// addFlags adds the flags of sources without an operator.
func (s *source) addFlags(cmd *cobra.Command) {
	flags, l := cmd.Flags(), &s.cli.local
	flags.BoolVar(&l.live, "local", false, "Look without an operator: list and watch with your own rights, in this process. It is the default where no operator serves graphs, unless it is false. -n takes several namespaces, as a,b")
	if !s.adHoc {
		flags.StringVarP(&l.file, "filename", "f", "", "A file with the GraphView to show, and any ReferenceRules, as with --local")
	}
	if !s.withoutManifests {
		l.files.addFlags(flags, s.verdict)
	}
	if flags.Lookup("all-namespaces") == nil {
		flags.BoolVarP(&l.allNamespaces, "all-namespaces", "A", false, "All namespaces, as with --local")
	}
}

// run parses the arguments, and serves the graphs of the source while next runs.
func (s *source) run(next runFunc) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, l := s.cli, &s.cli.local
		if err := c.checkManifestFlags(cmd); err != nil {
			return err
		}
		if err := s.pathsAsFrom(cmd, args); err != nil {
			return err
		}
		t, err := s.parse(cmd, args)
		if err != nil {
			return err
		}
		if in := cmd.Flags().Lookup("in"); in != nil && t.view == "" {
			t.view = in.Value.String()
		}
		if t.kind != "" && !l.files.given() || l.serves() { // it is about no view, or the agent's process serves it
			return next(cmd, t)
		}
		if err := s.decide(cmd, t); err != nil {
			return err
		}
		within := func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return next(cmd, t)
		}
		switch {
		case l.files.given():
			return s.runManifests(cmd, within)
		case l.live:
			// Its error is that there is no such flag.
			l.allNamespaces, _ = cmd.Flags().GetBool("all-namespaces")
			named, from, err := c.readScope(cmd)
			if err != nil {
				return err
			}
			return s.runLocal(cmd, named, from, within)
		case len(l.files.with) > 0:
			return s.runViewWith(cmd, t, next)
		default:
			return next(cmd, t)
		}
	}
}

// decide chooses the source: this process if a flag asks for something that only this process does, or if no operator
// serves graphs and no GraphView is named.
func (s *source) decide(cmd *cobra.Command, t target) error {
	c, l := s.cli, &s.cli.local
	flag := ""
	switch {
	case l.file != "":
		flag = "-f"
	case l.allNamespaces:
		flag = "-A"
	case strings.Contains(*c.config.Namespace, ","):
		flag = "-n with several namespaces"
	}
	refused := cmd.Flags().Changed("local") && !l.live
	switch {
	case l.files.given() && t.view != "":
		return c.correct(usagef(cmd, "--from shows manifests, and no GraphView of the cluster: leave %s out", t.view), cmd, append(t.words()[1:], s.fromWords()...))
	case l.files.given():
		return nil
	case flag != "" && refused:
		without := slices.DeleteFunc(slices.Clone(c.args), func(word string) bool { return word == "--local=false" })
		return typed(usagef(cmd, "%s is for --local: leave --local=false out", flag), without)
	case flag != "" && t.view != "":
		return c.correct(usagef(cmd, "%s and the GraphView %q do not go together: leave one of them out", flag, t.view), cmd, t.words())
	case l.live && t.view != "":
		return c.correct(usagef(cmd, "--local is one view, of your own rights: leave %s out", t.view), cmd, append(t.words()[1:], "--local"))
	case l.live && c.link != "", flag != "" && c.link != "":
		return usagef(cmd, "--link %s: --local looks at the cluster of your kubeconfig; leave one of them out", c.link)
	case flag != "":
		l.live = true
	case !l.live && !refused && t.view == "" && !cmd.Flags().Changed("in") && c.link == "" && !c.allLinks && !s.answers(cmd.Context()):
		l.live, l.chosen = true, true
	}
	return nil
}

// answers reports whether an operator serves graphs, also if it does not answer for now.
func (s *source) answers(ctx context.Context) bool {
	v, err := s.cli.open("")
	if err != nil {
		return true // the command says why
	}
	defer v.close()
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	_, err = v.client.ServerVersion(ctx)
	return !client.IsNotServed(err)
}

// words are the arguments that name a target, beginning with the view.
func (t target) words() []string {
	var words []string
	for _, word := range []string{t.view, t.object, t.kind} {
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// fromWords are the flags that name manifests.
func (s *source) fromWords() []string {
	var words []string
	for _, path := range s.cli.local.files.from {
		words = append(words, "--from", quoted(path))
	}
	for _, path := range s.cli.local.files.kustomize {
		words = append(words, "-k", quoted(path))
	}
	return words
}

// patience returns the time for which the view waits for one resource. It is longer than the wait of the command for the
// view, so that a view without the resource does not count as complete.
func (s *source) patience() time.Duration {
	if !s.verdict {
		return 0
	}
	return s.cli.wait + time.Minute
}
