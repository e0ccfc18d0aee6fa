package expr

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testStates = []string{"ok", "progressing", "degraded"}

func TestCompileHealth(t *testing.T) {
	const states = "ok, progressing, degraded"
	checkErrors(t, map[string]invalid{
		"a word":             {text: "obj.status.phase == 'Up' ? 'ok' : 'degraded'"},
		"a word or nothing":  {text: "has(obj.status) ? 'ok' : ''"},
		"a map":              {text: "{'state': 'ok', 'reason': obj.status.why, 'ready': 1, 'wanted': size(obj.spec.parts), 'since': obj.status.since}"},
		"a map or nothing":   {text: "has(obj.status) ? {'state': 'ok'} : {}"},
		"the documented one": {text: "has(obj.status.ready) ? {'state': obj.status.ready ? 'ok' : 'degraded', ?'reason': obj.status.?why} : {}"},
		"with optional keys": {text: "{'state': 'ok', ?'reason': obj.?status.why}"},
		"a time":             {text: "{'state': 'ok', 'since': timestamp(obj.status.since)}"},
		"whatever it holds":  {text: "obj.status.health"},
		"a dynamic key":      {text: "{obj.spec.key: 'ok'}"},
		"a state chosen":     {text: "{'state': obj.status.ready > 0 ? 'ok' : 'degraded'}"},
		"empty":              {text: "", want: "…expression is empty; it must evaluate to one of the states " + states + ", or a map with " + judgementKeys + "…"},
		"bool":               {text: "obj.status.ready == 1", want: "…expression must evaluate to a state or a map with " + judgementKeys + ", not bool…"},
		"a list":             {text: "['ok']", want: "…not list(string)…"},
		"a numbered map":     {text: "{1: 'ok'}", want: "…not map(int, string)…"},
		"another word":       {text: "obj.a ? 'ok' : 'Healthy'", want: "…line 1, column 16: 'Healthy' is none of the states " + states + "…"},
		"another state":      {text: "{'state': 'bad'}", want: "…line 1, column 11: 'bad' is none of the states " + states + "…"},
		"another one chosen": {text: "{'state': obj.a ? 'bad' : 'ok'}", want: "…line 1, column 19: 'bad' is none of the states…"},
		"a misspelt key":     {text: "{'status': 'ok'}", want: "…line 1, column 2: the map has the keys " + judgementKeys + ", not 'status'…"},
		"no state":           {text: "{'reason': 'Slow'}", want: "…line 1, column 1: the map needs a state…"},
		"a state of true":    {text: "{'state': true}", want: "…line 1, column 11: state must be a string, not bool…"},
		"a count of text":    {text: "{'state': 'ok', 'ready': '1', 'wanted': 2}", want: "…line 1, column 26: ready must be a whole number, not string…"},
		"of how many":        {text: "{'state': 'ok', 'ready': 1}", want: "…line 1, column 1: ready needs wanted: of how many…"},
		"unknown variable":   {text: "self.status", want: "…unknown name or function 'self'…"},
	}, func(text string) error {
		_, err := CompileHealth(t.Context(), nil, text, testStates)
		return err
	})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	object := map[string]any{"status": map[string]any{
		"ready": int64(2), "part": 1.5, "whole": 3.0, "below": int64(-1), "secret": secret, "nothing": nil, "list": []any{}, "empty": map[string]any{},
		"since": "2026-01-02T03:04:05Z", "health": map[string]any{"state": "degraded", "reason": "Slow"}, "odd": map[string]any{"state": "ok", secret: secret},
	}}
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		text      string
		want      Judgement
		wantError string
	}{
		"a word":            {text: "obj.status.ready == 2 ? 'ok' : 'degraded'", want: Judgement{State: "ok"}},
		"nothing":           {text: "''"},
		"an empty map":      {text: "obj.status.empty"},
		"a map":             {text: "{'state': 'ok', 'reason': 'Up', 'ready': obj.status.ready, 'wanted': 3, 'since': obj.status.since}", want: Judgement{State: "ok", Reason: "Up", Ready: 2, Wanted: 3, Counted: true, Since: since}},
		"of the object":     {text: "obj.status.health", want: Judgement{State: "degraded", Reason: "Slow"}},
		"a time":            {text: "{'state': 'ok', 'since': timestamp(obj.status.since)}", want: Judgement{State: "ok", Since: since}},
		"an empty time":     {text: "{'state': 'ok', 'since': ''}", want: Judgement{State: "ok"}},
		"a whole double":    {text: "{'state': 'ok', 'ready': obj.status.whole, 'wanted': 3u}", want: Judgement{State: "ok", Ready: 3, Wanted: 3, Counted: true}},
		"null reason":       {text: "{'state': 'ok', 'reason': obj.status.nothing}", want: Judgement{State: "ok"}},
		"no wanted":         {text: "{'state': 'ok', 'ready': 1, ?'wanted': obj.?status.wanted}", want: Judgement{State: "ok"}},
		"no ready":          {text: "{'state': 'ok', ?'ready': obj.?status.none, 'wanted': 2}", want: Judgement{State: "ok", Wanted: 2, Counted: true}},
		"another word":      {text: "obj.status.secret", wantError: "the value has a state that is none of ok, progressing, degraded"},
		"a list":            {text: "obj.status.list", wantError: "expression must evaluate to a state or a map with " + judgementKeys + ", and was list for this object"},
		"null":              {text: "obj.status.nothing", wantError: "and was null_type for this object"},
		"no state":          {text: "{?'state': obj.?status.state, 'reason': 'Slow'}", wantError: "the value has no state"},
		"a state of 2":      {text: "{'state': obj.status.ready}", wantError: "the value has a state that is no string"},
		"a part":            {text: "{'state': 'ok', 'ready': obj.status.part, 'wanted': 2}", wantError: "the value has a ready that is no whole number from 0 on"},
		"below 0":           {text: "{'state': 'ok', 'ready': 0, 'wanted': obj.status.below}", wantError: "the value has a wanted that is no whole number from 0 on"},
		"no time":           {text: "{'state': 'ok', 'since': obj.status.secret}", wantError: "the value has a since that is no time in RFC 3339"},
		"another key":       {text: "obj.status.odd", wantError: "the value has a key that is none of " + judgementKeys},
		"no such key":       {text: "obj.status.absent", wantError: "no such key: absent"},
		"more than allowed": {text: "lists.range(10000).map(i, lists.range(10000)).map(l, l.map(x, string(x))).size() > 0 ? 'ok' : ''", wantError: "cost limit exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := CompileHealth(t.Context(), nil, tc.text, testStates)
			if err != nil {
				t.Fatal(err)
			}
			in := &Input{Object: func() (map[string]any, error) { return object, nil }}
			got, err := h.Judge(t.Context(), in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("judgement (-want +got):\n%s", diff)
			}
			if in.Cost == 0 {
				t.Error("it cost nothing")
			}
			if tc.wantError == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var failed *EvaluationError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), tc.wantError) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want %q", err, tc.wantError)
			}
		})
	}
}
