package history

// Store keeps the log over restarts.
type Store struct{}

func (s *Store) drop(id uint64, namespace string, since int64) {}
func (s *Store) read(id uint64) []byte                         { return nil }

func (l *Log) load()  {}
func (l *Log) flush() {}
