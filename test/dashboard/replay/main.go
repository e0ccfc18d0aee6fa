// Command replay serves the page with generated graphs, in the protocol of the
// stream, and changes them at a given rate. Pictures and measurements of the page need it for
// sizes that no test cluster has.
//
// It knows one rule of the protocol: a stream begins with a graph and goes on
// with changes. A graph may have a history: a list of changes, and the graph as it was at any time
// of it. Tests of the page's contents run against a real operator.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/dashboard"
	"graphview.dev/test/must"
)

const (
	group = "/apis/stream.graphview.dev/v1alpha1"
	chunk = 500 // actions in a message
	rate  = 20  // messages of changes in a second
)

func main() {
	dir := flag.String("graphs", "", "directory of NAME.json, each a list of actions, and NAME.changes.json, a list of lists of them; NAME.history.json is the answer to a question for changes, and NAME.past.json has the actions of the graph as it was")
	flag.Parse()
	must.Main("replay", func(ctx context.Context) { run(ctx, *dir) })
}

func run(ctx context.Context, dir string) {
	page := must.Get(dashboard.Handler(dashboard.Options{}))
	mux := http.NewServeMux()
	mux.Handle("/dashboard/", page)
	s := &server{dir: dir}
	mux.HandleFunc("GET "+group+"/graphs", s.list)
	mux.HandleFunc("GET "+group+"/namespaces/sized/graphs/{name}", s.snapshot)
	mux.HandleFunc("GET "+group+"/watch/namespaces/sized/graphs/{name}", s.watch)
	// The floor: a page that only reads the same bytes, and a page that draws rectangles. The
	// directory also has pages with other libraries.
	mux.Handle("/floor/", http.StripPrefix("/floor", http.FileServer(http.Dir(filepath.Join("test", "dashboard", "floor")))))
	mux.Handle("/libraries/", http.StripPrefix("/libraries", http.FileServer(http.Dir(dir))))
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Printf("http://%s\n", listener.Addr())
	served := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- served.Serve(listener) }()
	<-ctx.Done()
	must.Do(served.Close())
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		must.Do(err)
	}
}

type server struct{ dir string }

func (s *server) read(name string) (actions []json.RawMessage, err error) {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(name)+".json"))
	if err != nil {
		return nil, err
	}
	return actions, json.Unmarshal(text, &actions)
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.json"))
	items := []map[string]any{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !strings.Contains(name, ".") {
			items = append(items, map[string]any{"metadata": map[string]string{"namespace": "sized", "name": name}})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items}) // the client has closed the connection
}

func (s *server) snapshot(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if r.URL.Query().Has("changes") {
		s.history(w, r, name)
		return
	}
	if r.URL.Query().Has("at") {
		name += ".past"
	}
	actions, err := s.read(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	text, _ := json.Marshal(map[string]any{"actions": actions, "rev": "0", "synced": true})
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var zipped bytes.Buffer
		z, _ := gzip.NewWriterLevel(&zipped, 1)
		_, _ = z.Write(text)
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		text = zipped.Bytes()
	}
	_, _ = w.Write(text)
}

// history answers with all changes, or with none to a question for later ones. An object is taken to lead to the objects whose
// names begin with its name.
func (s *server) history(w http.ResponseWriter, r *http.Request, name string) {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(name)+".history.json"))
	if err != nil {
		http.Error(w, `{"code": 404, "reason": "NotFound", "message": "the history is off"}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, object, ok := strings.Cut(r.URL.Query().Get("changes"), "/"); ok {
		text = changesOf(text, object)
	}
	if since := r.URL.Query().Get("since"); since != "" {
		text, _ = json.Marshal(map[string]any{"changes": []string{}, "since": since, "until": since})
	}
	_, _ = w.Write(text)
}

func changesOf(history []byte, object string) []byte {
	var all struct {
		Changes []json.RawMessage `json:"changes"`
		Since   string            `json:"since"`
		Until   string            `json:"until"`
	}
	must.Do(json.Unmarshal(history, &all))
	all.Changes = slices.DeleteFunc(all.Changes, func(text json.RawMessage) bool {
		var change struct {
			VX struct{ NS, N string }
		}
		return json.Unmarshal(text, &change) != nil || !strings.HasPrefix(change.VX.NS+"/"+change.VX.N, object)
	})
	return must.Get(json.Marshal(all))
}

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	actions, err := s.read(r.PathValue("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphview.v1"}, CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // the stream has ended in any case
	ctx := conn.CloseRead(r.Context())
	send := func(message map[string]any) bool {
		text, err := json.Marshal(message)
		return err == nil && conn.Write(ctx, websocket.MessageText, text) == nil
	}
	for first := true; len(actions) > 0; first = false {
		n := min(chunk, len(actions))
		message := map[string]any{"actions": actions[:n]}
		actions = actions[n:]
		if first {
			message["reset"] = true
		}
		if len(actions) == 0 {
			message["rev"], message["synced"] = "1", true
		}
		if !send(message) {
			return
		}
	}
	s.change(ctx, r.PathValue("name"), send)
}

// change sends the changes again and again.
func (s *server) change(ctx context.Context, name string, send func(map[string]any) bool) {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(name)+".changes.json"))
	var changes [][]json.RawMessage
	if err != nil || json.Unmarshal(text, &changes) != nil || len(changes) == 0 {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(time.Second / rate)
	defer ticker.Stop()
	for i := 0; ; i = (i + 1) % len(changes) {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !send(map[string]any{"actions": changes[i], "rev": fmt.Sprint(i + 2)}) {
			return
		}
	}
}
