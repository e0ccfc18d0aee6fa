package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// options are the flags.
type options struct {
	root, out, version, platforms, push string
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the repository")
	flag.StringVar(&o.out, "out", "", "tar file to write, an OCI image layout")
	flag.StringVar(&o.version, "version", "v0.0.0", "version that the operator says it is")
	flag.StringVar(&o.platforms, "platforms", "linux/amd64,linux/arm64", "comma-separated platforms")
	flag.StringVar(&o.push, "push", "", "name to push the image to, with the credentials of docker login; empty: it is not pushed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.out == "" && o.push == "" {
		return errors.New("nothing to do: neither -out nor -push is given")
	}
	index, err := build(ctx, o.root, o.version, strings.Split(o.platforms, ","))
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeLayout(o.out, index, o.version); err != nil {
			return fmt.Errorf("write %s: %w", o.out, err)
		}
		fmt.Printf("%s %s\n", digest, o.out)
	}
	if o.push != "" {
		reference, err := name.ParseReference(o.push)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(reference, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return fmt.Errorf("push %s: %w", o.push, err)
		}
		fmt.Printf("%s %s\n", digest, o.push)
	}
	return nil
}
