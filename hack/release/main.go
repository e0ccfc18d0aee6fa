package main

import (
	"context"
	"flag"
	"strings"

	"graphview.dev/test/must"
)

func main() {
	var o options
	var plugins, images, parts string
	flag.StringVar(&o.version, "version", "", "the version, such as v0.1.0")
	flag.StringVar(&o.registry, "registry", "graphview.dev", "where the image and the chart will be pushed to")
	flag.StringVar(&o.download, "download", "https://graphview.dev/releases", "the URL below which the files will be, in a folder of the version's name")
	flag.StringVar(&o.out, "out", "dist", "the folder to write a folder of the version's name to")
	flag.StringVar(&images, "platforms", "linux/amd64,linux/arm64", "comma-separated platforms of the image")
	flag.StringVar(&plugins, "plugins", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64", "comma-separated platforms of the plugin")
	flag.StringVar(&parts, "parts", "", "comma-separated parts to make, without the rest: "+strings.Join(partNames(), ", "))
	flag.BoolVar(&o.allowDirty, "allow-dirty", false, "make a release of files that are not committed, to try it")
	describe := flag.Bool("describe", false, "only write a bill of materials and a provenance statement for the programs in the arguments")
	flag.Parse()
	o.images, o.plugins, o.parts = words(images), words(plugins), words(parts)
	must.Main("release", func(ctx context.Context) {
		if *describe {
			describePrograms(flag.Args())
		} else {
			run(ctx, o)
		}
	})
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
