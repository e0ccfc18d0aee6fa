package main

import (
	"github.com/go-logr/logr"

	"graphview.dev/graphview/history"
)

// openHistory returns the history of changes, nil if it is off, and a function that closes it after the engine
// has ended.
func openHistory(o *options, log logr.Logger) (changes *history.Log, closeHistory func(), err error) {
	if !o.history {
		return nil, func() {}, nil
	}
	if o.historyDir == "" {
		return history.NewLog(history.Options{Bytes: o.historyBytes}), func() {}, nil
	}
	store, err := history.OpenStore(o.historyDir)
	if err != nil {
		return nil, nil, err
	}
	changes = history.NewLog(history.Options{Bytes: o.historyBytes, Store: store, Failed: func(err error) {
		log.Error(err, "The history is not written, and goes on in memory", "directory", o.historyDir)
	}})
	if lost := store.Lost(); lost != "" {
		log.Info("A part of the history is lost", "directory", o.historyDir, "reason", lost)
	}
	return changes, func() {
		if err := store.Close(); err != nil {
			log.Error(err, "The history is not closed", "directory", o.historyDir)
		}
	}, nil
}
