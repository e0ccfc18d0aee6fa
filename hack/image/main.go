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
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// options are the flags.
type options struct {
	root, out, from, keep, repository, version, platforms, push string
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the repository")
	flag.StringVar(&o.out, "out", "", "tar file to write, an OCI image layout")
	flag.StringVar(&o.from, "from", "", "such a tar file, to be pushed instead of an image that is built")
	flag.StringVar(&o.keep, "keep", "", "folder to write the programs to as well")
	flag.StringVar(&o.repository, "repository", "graphview.dev/manager", "what the image in the tar file is called")
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
	index, done, err := o.index(ctx)
	if err != nil {
		return err
	}
	defer done()
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeLayout(o.out, index, o.repository, o.version); err != nil {
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

// index is read from a file, or built. It can be used until done is called.
func (o options) index(ctx context.Context) (index v1.ImageIndex, done func(), err error) {
	if o.from == "" {
		index, err = build(ctx, o.root, o.version, o.keep, strings.Split(o.platforms, ","))
		return index, func() {}, err
	}
	dir, err := os.MkdirTemp("", "graphview-layout-")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(dir) } // after an error the files stay in the system's temporary folder
	if index, err = readLayout(o.from, dir); err != nil {
		done()
		return nil, nil, fmt.Errorf("read %s: %w", o.from, err)
	}
	return index, done, nil
}
