package main

import (
	"context"

	"graphview.dev/test/must"
)

func main() {
	must.Main("generate", func(ctx context.Context) {
		writeFields()
		writeKinds(ctx)
		writeChart()
	})
}
