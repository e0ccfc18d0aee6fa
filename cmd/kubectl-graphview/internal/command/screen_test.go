package command

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/coder/websocket"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestScreen(t *testing.T) {
	for name, test := range map[string]struct {
		text     string
		terminal bool
		want     string
	}{
		"text":                           {text: "web\t2/2\nété 日本 🙂\n", want: "web\t2/2\nété 日本 🙂\n"},
		"an escape":                      {text: "a\x1b[2Jb\x1b]52;c;eA==\ac", want: "a�[2Jb�]52;c;eA==�c"},
		"a return":                       {text: "a\rb", want: "a�b"},
		"a C1 control character":         {text: "a\u009b2Jb", want: "a�2Jb"},
		"a byte that is no character":    {text: "a\x9bb", want: "a�b"},
		"a colour in a file":             {text: paint{on: true}.Bad("a"), want: "�[31ma�[0m"},
		"own sequences":                  {text: paint{on: true}.Bad("a") + eraseLine, terminal: true, want: "\x1b[31ma\x1b[0m\r\x1b[K"},
		"foreign ones":                   {text: "\x1b[8ma\r\x1b[2K", terminal: true, want: "�[8ma��[2K"},
		"a sequence that does not end":   {text: "a\x1b[3", terminal: true, want: "a�[3"},
		"a sequence that does not begin": {text: "[31ma", terminal: true, want: "[31ma"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if n, err := (&screen{out: &out, terminal: test.terminal}).Write([]byte(test.text)); err != nil || n != len(test.text) {
				t.Errorf("wrote %d bytes: %v", n, err)
			}
			if got := out.String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestColours: they are for terminals, and for users who have not turned them off.
func TestColours(t *testing.T) {
	for name, test := range map[string]struct {
		noColor, term string
		terminal      bool
		want          bool
	}{
		"a terminal":              {"", "xterm", true, true},
		"a file":                  {"", "xterm", false, false},
		"a terminal, NO_COLOR":    {"1", "xterm", true, false},
		"a terminal without them": {"", "dumb", true, false},
	} {
		t.Setenv("NO_COLOR", test.noColor)
		t.Setenv("TERM", test.term)
		if text := paintFor(&screen{terminal: test.terminal}).Bad("a"); (text != "a") != test.want {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestObjects: how far a first list is can be read at a glance.
func TestObjects(t *testing.T) {
	for n, want := range map[int]string{0: "0 objects", 1: "1 object", 999: "999 objects", 12400: "12,400 objects", 1234567: "1,234,567 objects"} {
		if got := objects(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestScreenInParts writes a text byte by byte.
func TestScreenInParts(t *testing.T) {
	var out bytes.Buffer
	text := strings.NewReader("été\u009b 🙂\x1b[2J\n")
	buffer := make([]byte, 1)
	s, one := newScreen(&out), iotest.OneByteReader(text)
	for {
		n, err := one.Read(buffer)
		if err != nil {
			break
		}
		if _, err := s.Write(buffer[:n]); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "été� 🙂�[2J\n" {
		t.Errorf("%q", got)
	}
}

// TestHostileMember checks that the names and messages of a hostile member neither control the
// terminal nor forge a line, whichever command prints them.
func TestHostileMember(t *testing.T) {
	const hostile = "evil\x1b[2J\x1b]52;c;eA==\a\u009b2J\r\nshop   all-is-well\u202e\u2028end"
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}
	type object = map[string]any
	key := object{"g": "", "v": "v1", "r": "pods", "ns": "shop", "n": hostile}
	other := object{"g": "", "v": "v1", "r": "pods", "ns": "shop", "n": "other"}
	graph := object{"rev": "1", "synced": true, "actions": []object{
		{"svx": object{"vx": key, "m": object{"k": hostile, "h": "degraded", "w": hostile}}}, {"svx": object{"vx": other, "m": object{"k": "Pod"}}},
		{"sarc": object{"s": other, "d": key, "t": "r", "a": object{"f": []string{hostile}, "w": []string{hostile}}}},
	}, "warnings": []object{{"t": hostile, "m": hostile}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/graphs"):
			answer(w, object{"kind": "GraphList", "items": []object{{"metadata": object{"namespace": "shop", "name": hostile}, "synced": true}}})
		case strings.Contains(path, "/graphs/") && r.Header.Get("Upgrade") != "":
			conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphview.v1"}})
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			text, _ := json.Marshal(graph)
			_ = conn.Write(r.Context(), websocket.MessageText, text) // the command may have left
			_ = conn.Close(websocket.StatusPolicyViolation, "Forbidden: "+hostile)
		case strings.Contains(path, "/graphs/") && r.URL.Query().Has("format"):
			_, _ = w.Write([]byte(hostile))
		case strings.Contains(path, "/graphs/"):
			answer(w, graph)
		default:
			http.Error(w, hostile, http.StatusNotFound)
		}
	}))
	defer server.Close()
	for _, line := range []string{
		"list -A", "problems -A", "problems web", "problems web -o json", "tree web", "describe web", "explain web pod/other",
		"get web", "get web -o dot", "get web -o mermaid", "get web -o graphml", "get web -o html", "watch web", "watch web -o json",
	} {
		t.Run(line, func(t *testing.T) {
			var out bytes.Buffer
			args := append(strings.Fields(line), "--server", server.URL, "--cache-dir", t.TempDir(), "-n", "shop")
			Run(t.Context(), "v1.0.0", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
			if out.Len() == 0 {
				t.Error("printed nothing")
			}
			if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }); i >= 0 {
				t.Errorf("controls the terminal: %q", out.String()[max(0, i-80):min(out.Len(), i+20)])
			}
			if document := strings.HasPrefix(line, "get"); !document && strings.Contains("\n"+out.String(), "\nshop   all-is-well") {
				t.Errorf("a line is forged:\n%s", out.String())
			}
		})
	}
}
