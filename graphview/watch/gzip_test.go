package watch

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// gzipped has a server compress its lists for whom that is right, as an API server does
// with long ones, and names that so; of the first, no more than so many bytes are sent, or
// all if that is 0.
func (s *server) gzipped(encoding string, most int) (packed *[]bool) {
	packed = new([]bool)
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if watch {
			return false
		}
		accepts := r.Header.Get("Accept-Encoding") == "gzip"
		s.mu.Lock()
		*packed = append(*packed, accepts)
		first := len(*packed) == 1
		s.mu.Unlock()
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
		w.Header().Set("Content-Encoding", encoding)
		if most > 0 && first {
			_, _ = w.Write(whole.Body.Bytes()[:most])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(whole.Body.Bytes())
		return true
	})
	return packed
}

// TestGzip: lists are compressed, unless an option turns that off.
func TestGzip(t *testing.T) {
	const objects = 100
	for protocol, serve := range map[string]func(*testing.T) *server{"HTTP1": newServer, "HTTP2": newHTTP2Server} {
		for name, test := range map[string]struct {
			disabled bool
			encoding string
			cut      int
		}{
			"compressed":        {encoding: "gzip"},
			"in capitals":       {encoding: "GZIP"},
			"not asked for":     {disabled: true},
			"cut":               {encoding: "gzip", cut: 600},
			"cut in the header": {encoding: "gzip", cut: 5},
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				s, r := serve(t), newRecorder(t)
				s.fill(objects)
				packed := s.gzipped(test.encoding, test.cut)
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
				s.mu.Lock()
				accepts := slices.Clone(*packed)
				s.mu.Unlock()
				if early := m.ListsEndedEarly(); (early == 1) != (test.cut > 0) {
					t.Errorf("%d lists ended early", early)
				}
				for _, accepted := range accepts {
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
