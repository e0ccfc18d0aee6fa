package env

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tailLines is the number of lines of each log that are shown after a failure.
const tailLines = 25

// tail returns the last lines of a file, under a heading with its name. It reads
// no more than the file's last 64 KiB.
func tail(path string) string {
	const most = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	text, _ := io.ReadAll(file)
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	all = all[max(0, len(all)-tailLines):]
	return fmt.Sprintf("--- last lines of %s\n%s\n", filepath.Base(path), bytes.Join(all, []byte("\n")))
}
