// Package must ends a program at its first error, as testing.T's Fatal ends a test, so that it
// reads as the steps that it takes. It is for commands of this repository that measure, generate or
// release; a function that others retry, or call in a goroutine without [Try], returns its error.
package must

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// failure is the value of Do's panics.
type failure struct{ err error }

// Do ends the program if there is an error.
func Do(err error) {
	if err != nil {
		panic(failure{located(err)})
	}
}

// Get returns the value of a call, and ends the program if there is an error.
func Get[T any](value T, err error) T {
	Do(err)
	return value
}

// End is for defer: it calls a function at the end of another one, also after an error, and joins the two
// errors.
func End(end func() error) {
	ended := recover()
	err := end()
	switch f, failed := ended.(failure); {
	case failed:
		panic(failure{errors.Join(f.err, err)})
	case ended != nil:
		panic(ended)
	default:
		Do(err)
	}
}

// Background runs a function until end is called, which waits for it. Defer end with [End].
func Background(ctx context.Context, run func(context.Context) error) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// Try calls a function, and returns the error of Do that has ended it.
func Try(do func()) (err error) {
	defer func() {
		ended := recover()
		if f, failed := ended.(failure); failed {
			err = f.err
		} else if ended != nil {
			panic(ended)
		}
	}()
	do()
	return nil
}

// located adds the line of the program to an error.
func located(err error) error {
	for skip := 2; ; skip++ {
		_, file, line, ok := runtime.Caller(skip)
		if !ok {
			return err
		}
		if !strings.HasSuffix(file, "/must/must.go") {
			return fmt.Errorf("%s:%d: %w", filepath.Base(file), line, err)
		}
	}
}

// Main is the main function of a program. SIGINT and SIGTERM end its context.
func Main(name string, run func(context.Context)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := Try(func() { run(ctx) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
