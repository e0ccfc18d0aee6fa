package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// besideBusy runs do while other programs take their part of all processors.
func (b *bench) besideBusy(do func()) {
	var all []*env.Process
	defer func() {
		for _, process := range all {
			process.Stop()
		}
	}()
	for i := range b.busy {
		name := fmt.Sprintf("busy-%d", i)
		all = append(all, must.Get(b.plane.Run(name, must.Get(os.Executable()), childArgument, `{"Name":"busy"}`)))
	}
	do()
}

// spin takes all processors until ctx ends.
func spin(ctx context.Context) {
	var spinning sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		spinning.Go(func() {
			for ctx.Err() == nil {
				for range 1 << 20 {
				}
			}
		})
	}
	spinning.Wait()
}
