package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"graphview.dev/test/patience"
)

// request is a view for one connection in the words of /graph.
func request(include map[string]any, more ...map[string]any) string {
	all := map[string]any{"queries": []any{map[string]any{"include": include}}}
	for _, m := range more {
		maps.Copy(all, m)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// everything selects it, with an object filter.
func everything(filter map[string]any) string {
	return request(map[string]any{"resource_selector_expression": "true", "object": filter})
}

func selecting(cel string) string {
	return everything(map[string]any{"object_selector_expression": cel})
}

// TestFirstMessages: whatever the first message of a connection is, it is
// refused with a code and a reason, or granted.
func TestFirstMessages(t *testing.T) {
	names := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("n%d", i)
		}
		return all
	}
	const malformed, invalid = websocket.StatusInvalidFramePayloadData, websocket.StatusPolicyViolation
	for name, test := range map[string]struct {
		message    string
		binary     bool
		want       websocket.StatusCode
		wantReason string
	}{
		"nothing":                   {message: "", want: malformed, wantReason: "not of the expected form"},
		"no JSON":                   {message: "hello", want: malformed, wantReason: "not of the expected form"},
		"binary":                    {message: "{}", binary: true, want: malformed, wantReason: "text message"},
		"a byte too many":           {message: selecting("'" + strings.Repeat("a", 65<<10) + "' == ''")[:64<<10+1], want: malformed, wantReason: "more than 65536 bytes"},
		"a megabyte":                {message: strings.Repeat(" ", 1<<20), want: malformed, wantReason: "more than 65536 bytes"},
		"deep lists":                {message: strings.Repeat("[", 64<<10), want: malformed, wantReason: "not of the expected form"},
		"deep objects":              {message: strings.Repeat(`{"queries":`, 5000), want: malformed, wantReason: "not of the expected form"},
		"a deep value":              {message: `{"queries":[{"include":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}]}`, want: malformed},
		"unknown fields":            {message: `{"queries":[],"sudo":true}`, want: malformed, wantReason: "sudo"},
		"two requests":              {message: "{}{}", want: malformed, wantReason: "something follows it"},
		"no text in it":             {message: `{"queries":[{"include":{"resource_selector_expression":"` + "\xff" + `"}}]}`, want: invalid},
		"no queries":                {message: `{}`, want: invalid, wantReason: "between 1 and 64"},
		"65 queries":                {message: `{"queries":[` + strings.TrimSuffix(strings.Repeat(`{"exclude":{"resource_selector_expression":"true"}},`, 65), ",") + `]}`, want: invalid, wantReason: "between 1 and 64"},
		"1025 namespaces":           {message: request(map[string]any{"resource_selector_expression": "true"}, map[string]any{"namespaces": map[string]any{"names": names(1025)}}), want: invalid, wantReason: "at most 1024"},
		"names that are none":       {message: request(map[string]any{"resource_selector_expression": "true"}, map[string]any{"namespaces": map[string]any{"names": []string{"../secrets"}}}), want: invalid, wantReason: "not the name of a namespace"},
		"65 roots":                  {message: request(map[string]any{"resource_selector_expression": "true"}, map[string]any{"roots": map[string]any{"object_selector_expressions": strings.Split(strings.Repeat("true ", 65), " ")[:65]}}), want: invalid, wantReason: "at most 64"},
		"an arc type of one's own":  {message: request(map[string]any{"resource_selector_expression": "true"}, map[string]any{"roots": map[string]any{"object_selector_expressions": []string{"true"}, "ignore_arc_direction": []string{"x"}}}), want: invalid, wantReason: "unknown reference type"},
		"CEL, too long":             {message: selecting("'" + strings.Repeat("a", 11<<10) + "' == ''"), want: invalid, wantReason: "10240"},
		"CEL, nested":               {message: selecting(strings.Repeat("[", 150) + strings.Repeat("]", 150) + " == []"), want: invalid, wantReason: "nest"},
		"CEL, nested in brackets":   {message: selecting(strings.Repeat("(", 4000) + "true" + strings.Repeat(")", 4000)), want: invalid},
		"CEL, thousands of lists":   {message: selecting("[" + strings.TrimSuffix(strings.Repeat("[],", 3000), ",") + "] == []"), want: invalid, wantReason: "operators and functions that take any type"},
		"CEL, hundreds of loops":    {message: selecting(strings.TrimSuffix(strings.Repeat("[1].all(x, true) && ", 150), " && ")), want: invalid},
		"CEL, doubling macros":      {message: selecting("optional.of(1)" + strings.Repeat(".optMap(x, x)", 30) + ".hasValue()"), want: invalid},
		"CEL, unbalanced":           {message: selecting(strings.Repeat("(", 5000)), want: invalid},
		"CEL, of another type":      {message: selecting("'yes'"), want: invalid, wantReason: "bool"},
		"a regular expression":      {message: selecting("name.matches('(((a{100}){100}){100})')"), want: invalid},
		"many regular expressions":  {message: selecting(strings.TrimSuffix(strings.Repeat("name.matches('(a{30}){30}') || ", 50), " || ")), want: invalid},
		"a bad regular expression":  {message: selecting("name.matches('(')"), want: invalid},
		"JSONPath, unclosed":        {message: everything(map[string]any{"json_path": "{.a[?(@.b"}), want: invalid, wantReason: "json"},
		"JSONPath, too long":        {message: everything(map[string]any{"json_path": "{" + strings.Repeat(".a", 6000) + "}"}), want: invalid, wantReason: "10240"},
		"a label selector":          {message: everything(map[string]any{"label_selector": "a in ("}), want: invalid},
		"label selector, no label":  {message: everything(map[string]any{"label_selector": "-=@"}), want: invalid},
		"label selector, too long":  {message: everything(map[string]any{"label_selector": "a in (" + strings.Repeat("b,", 6000) + "c)"}), want: invalid, wantReason: "10240"},
		"a field selector":          {message: everything(map[string]any{"field_selector": "a b c"}), want: invalid},
		"names beside a selector":   {message: request(map[string]any{"resource_selector_expression": "true"}, map[string]any{"namespaces": map[string]any{"names": []string{"a"}, "label_selector": "a=b"}}), want: invalid, wantReason: "names excludes"},
		"a selector and an exclude": {message: `{"queries":[{"include":{"resource_selector_expression":"true"},"exclude":{"resource_selector_expression":"true"}}]}`, want: invalid, wantReason: "include and exclude"},
	} {
		t.Run(name, func(t *testing.T) {
			code, reason := refusal(t, "stranger", test.message, test.binary)
			if code != test.want || !strings.Contains(strings.ToLower(reason), strings.ToLower(test.wantReason)) || reason == "" {
				t.Errorf("%d %.300s, want %d %s", code, reason, test.want, test.wantReason)
			}
		})
	}
}

// refusal sends a first message that must not be granted.
func refusal(t *testing.T, user, message string, binary bool) (websocket.StatusCode, string) {
	t.Helper()
	conn, answer, err := dial(t.Context(), client(t, user), "/graph", "gitlab-agent-graph-api", nil)
	if err != nil {
		t.Fatalf("%d: %v", answer, err)
	}
	defer func() { _ = conn.CloseNow() }()
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	// The server may close the connection before it has read all of a large message.
	_ = conn.Write(t.Context(), kind, []byte(message))
	code, reason, err := outcome(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return code, reason
}

// outcome returns 0 for a granted request, else the code and the reason in the message. It
// checks that the close frame has the same code.
func outcome(ctx context.Context, conn *websocket.Conn) (code websocket.StatusCode, reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience.For(within))
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		return 0, "", err
	}
	var said struct {
		Error *struct {
			Code    websocket.StatusCode `json:"code"`
			Message string               `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &said); err != nil || said.Error == nil {
		return 0, "", err
	}
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != said.Error.Code {
		return 0, "", fmt.Errorf("%v after %s", err, text) //nolint:errorlint // it may be nil
	}
	return said.Error.Code, said.Error.Message, nil
}

// TestManyBadRequests: refusing is cheap, and done for many at once.
func TestManyBadRequests(t *testing.T) {
	meanwhile(t, func(tries *tally) {
		messages := []string{
			strings.Repeat("[", 64<<10),
			selecting("name.matches('(((a{100}){100}){100})')"),
			selecting("optional.of(1)" + strings.Repeat(".optMap(x, x)", 30) + ".hasValue()"),
			selecting("[" + strings.TrimSuffix(strings.Repeat("[],", 3000), ",") + "] == []"),
			strings.Repeat("x", 200<<10),
		}
		defer tries.measure(t)
		strangers := make([]*http.Client, 20)
		for i := range strangers {
			strangers[i] = client(t, fmt.Sprintf("stranger-%d", i))
		}
		inParallel(8, 400, func(n int) {
			conn, code, err := dial(t.Context(), strangers[n%len(strangers)], "/graph", "gitlab-agent-graph-api", nil)
			if err != nil {
				tries.add(fmt.Sprintf("HTTP %d", code))
				return
			}
			defer func() { _ = conn.CloseNow() }()
			_ = conn.Write(t.Context(), websocket.MessageText, []byte(messages[n%len(messages)]))
			closed, _, err := outcome(t.Context(), conn)
			tries.add(fmt.Sprintf("closed with %d", closed))
			if err != nil || closed != websocket.StatusInvalidFramePayloadData && closed != websocket.StatusPolicyViolation {
				t.Errorf("message %d: %d, %v", n%len(messages), closed, err)
			}
		})
	})
}

// TestGreedyConnections: the memory of views of one connection is charged to their user. A hundred
// views of the whole cluster by eleven users are within the shares of all, and a bystander is served.
func TestGreedyConnections(t *testing.T) {
	meanwhile(t, func(tries *tally) {
		var open held
		defer open.close()
		ask := func(user string, n int) {
			got := map[string]int{}
			c := client(t, user)
			for range n {
				conn, code, err := dial(t.Context(), c, "/graph", "gitlab-agent-graph-api", nil)
				if err != nil {
					got[fmt.Sprintf("HTTP %d", code)]++
					continue
				}
				open.keep(conn)
				_ = conn.Write(t.Context(), websocket.MessageText, []byte(everything(map[string]any{"json_path": "{..name}"})))
				closed, _, err := outcome(t.Context(), conn)
				switch {
				case err != nil:
					t.Error(err)
				case closed != 0:
					got[fmt.Sprintf("closed with %d", closed)]++
				default:
					got["granted"]++
				}
			}
			for what, n := range got {
				for range n {
					tries.add(what)
				}
			}
		}
		ask("glutton", 20)
		inParallel(5, 10, func(n int) { ask(fmt.Sprintf("guest-%d", n), 8) })
		tries.measure(t)
		if granted := tries.count("granted"); granted != 100 {
			t.Errorf("%d views at once, want 100: %s", granted, tries)
		}
	})
}
