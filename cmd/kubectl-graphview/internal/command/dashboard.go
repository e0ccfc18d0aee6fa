package command

import (
	"context"
	"fmt"
	"log"

	"github.com/spf13/cobra"

	"graphview.dev/cmd/kubectl-graphview/internal/proxy"
	"graphview.dev/dashboard"
)

func (c *cli) dashboard() *cobra.Command {
	var (
		port   int
		noOpen bool
	)
	from := source{cli: c, parse: c.viewOnly, follows: true}
	cmd := &cobra.Command{
		Use:   "dashboard [NAME]",
		Short: "See graphs in a browser, live",
		Long: `See graphs in a browser, as they are and as they change. The page is served on
this machine, to one browser, until Ctrl-C; what it shows is asked for with your
kubeconfig, and is what you may list and watch. It changes nothing, and the
contents of Secrets are never asked for.

With --local there need be no operator: the graph is made in this process. With --from there need
be no cluster: it is that of manifests, and follows their files.

Over SSH, choose a port and forward it: ssh -L 8001:127.0.0.1:8001 HOST.`,
		Example: `  kubectl graphview dashboard --local
  kubectl graphview dashboard --from manifests/
  kubectl graphview dashboard
  kubectl graphview dashboard storefront -n shop
  kubectl graphview dashboard --no-open --port 8001`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			if c.link != "" && t.view == "" {
				return usagef(cmd, "--link %s: name a GraphView of that cluster, or leave --link out and choose the cluster in the page", c.link)
			}
			if port < 0 || port > 65535 {
				return usagef(cmd, "--port %d: expected 0 to 65535", port)
			}
			return c.serveDashboard(cmd.Context(), t.view, port, !noOpen)
		}),
	}
	cmd.Flags().IntVar(&port, "port", 0, "The port to listen on; 0 takes a free one")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "Print the address, and open no browser")
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

func (c *cli) serveDashboard(ctx context.Context, name string, port int, open bool) error {
	page, err := dashboard.Handler(dashboard.Options{})
	if err != nil {
		return err
	}
	config, err := c.restConfig()
	if err != nil {
		return err
	}
	view := ""
	switch {
	case c.local.serves():
		config, view = c.local.cluster.Config(), c.local.view.String()
	case name != "":
		namespace, err := c.namespace()
		if err != nil {
			return err
		}
		view = namespace + "/" + name
		if c.link != "" {
			view = c.link + ":" + view
		}
	}
	p, err := proxy.New(proxy.Options{Config: config, Page: page, Port: port, View: view, Log: log.New(c.ErrOut, "", 0)})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out, p.URL())
	fmt.Fprintln(c.ErrOut, "The address works once, in one browser. Ctrl-C ends it.")
	if open {
		remove, err := openBrowser(ctx, p.URL())
		if err != nil {
			fmt.Fprintln(c.ErrOut, "Cannot open a browser; open the address yourself:", err)
		}
		defer remove()
	}
	return p.Run(ctx)
}
