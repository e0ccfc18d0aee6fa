package watch

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// gzipped has a server compress its lists for whom that is right, as an API server does
// with long ones; of the first, no more than so many bytes are sent, or all if that is 0.
func (s *server) gzipped(most int) (packed *[]bool) {
	packed = new([]bool)
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if watch {
			return false
		}
		accepts := r.Header.Get("Accept-Encoding") == "gzip"
		*packed = append(*packed, accepts)
		if !accepts {
			return false
		}
		whole := httptest.NewRecorder()
		z := gzip.NewWriter(whole)
		plain := httptest.NewRecorder()
		s.serveList(plain, r)
		_, _ = z.Write(plain.Body.Bytes())
		_ = z.Close()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		if most > 0 && len(*packed) == 1 {
			_, _ = w.Write(whole.Body.Bytes()[:most])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(whole.Body.Bytes())
		return true
	})
	return packed
}

// TestGzip: lists may come compressed, unless somebody does not want that.
func TestGzip(t *testing.T) {
	const objects = 100
	for protocol, serve := range map[string]func(*testing.T) *server{"HTTP1": newServer, "HTTP2": newHTTP2Server} {
		for name, test := range map[string]struct {
			disabled bool
			cut      int
		}{
			"compressed":        {},
			"not asked for":     {disabled: true},
			"cut":               {cut: 600},
			"cut in the header": {cut: 5},
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				s, r := serve(t), newRecorder(t)
				for i := range objects {
					s.set(fmt.Sprintf("object-%03d", i), object(fmt.Sprintf("object-%03d", i), "", ""))
				}
				packed := s.gzipped(test.cut)
				m := start(t, s, r, func(o *Options) {
					if o.Config.DisableCompression = test.disabled; test.disabled {
						transport := s.Client().Transport.(*http.Transport).Clone()
						transport.DisableCompression = true
						t.Cleanup(transport.CloseIdleConnections)
						o.Config.Transport = transport
					}
				})
				acquire(t, m, podsKey)
				r.await("the whole list", func() bool { return r.state.Synced && r.state.Err == nil && len(r.json) == objects })
				s.mu.Lock() // the watch begins
				asked := strings.Join(s.asked, "\n")
				s.mu.Unlock()
				if test.cut > 0 && !strings.Contains(asked, "limit=500") {
					t.Errorf("asked:\n%s", asked)
				}
				for _, accepted := range *packed {
					if accepted == test.disabled {
						t.Errorf("compression was accepted: %t", accepted)
					}
				}
				s.set("later", object("later", "", ""))
				r.await("what follows", func() bool { return r.json["later"] != "" })
			})
		}
	}
}
