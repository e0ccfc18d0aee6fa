package main

import (
	"context"

	"graphview.dev/hack/generate/protocol"
	"graphview.dev/test/must"
)

func main() {
	must.Main("generate", func(ctx context.Context) {
		writeFields()
		writeKinds(ctx)
		writeChart()
		protocol.Write(write)
	})
}
