package canary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// region is a writable mapping of a process.
type region struct {
	start, end uint64
	name       string
}

// regions are a process's writable mappings: what is not writable was there
// before the program read anything.
func regions(pid int) ([]region, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []region
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || !strings.HasPrefix(fields[1], "rw") {
			continue
		}
		var r region
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &r.start, &r.end); err != nil {
			return nil, fmt.Errorf("mapping %q: %w", fields[0], err)
		}
		if r.name = "anonymous"; len(fields) > 5 {
			r.name = fields[5]
		}
		all = append(all, r)
	}
	return all, nil
}

// hit is one place in memory where something that was looked for is.
type hit struct {
	needle  string // its name
	address uint64
	region  string
	// before and after are what lies around it, within the mapping.
	before, after []byte
}

const (
	// window is how much is read at once, and vicinity how much of a hit's
	// neighbourhood is kept.
	window   = 16 << 20
	vicinity = 64 << 10
)

// search looks through all that a process has written, while it stands still.
// It says how many bytes that was.
func search(pid int, needles map[string][]byte) (hits []hit, searched uint64, err error) {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, 0, fmt.Errorf("stop: %w", err)
	}
	defer func() { err = errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)) }()
	all, err := regions(pid)
	if err != nil {
		return nil, 0, err
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, 0, err
	}
	defer memory.Close()
	for _, r := range all {
		found, n, err := r.search(memory, needles)
		if err != nil {
			return nil, 0, fmt.Errorf("read %s at %x: %w", r.name, r.start, err)
		}
		hits, searched = append(hits, found...), searched+n
	}
	return hits, searched, nil
}

// search reads a mapping in windows, which overlap so that nothing is missed
// and each hit has its neighbours.
func (r region) search(memory io.ReaderAt, needles map[string][]byte) (hits []hit, read uint64, err error) {
	buffer := make([]byte, window+2*vicinity)
	for start := r.start; start < r.end; start += window {
		from := max(r.start, start-min(start, vicinity))
		text := buffer[:min(r.end, start+window+vicinity)-from]
		n, err := memory.ReadAt(text, int64(from))
		if n == 0 && (errors.Is(err, syscall.EIO) || errors.Is(err, io.EOF)) {
			return hits, read, nil // a mapping of the kernel's
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		text = text[:n]
		read += uint64(n)
		for name, needle := range needles {
			for at := bytes.Index(text, needle); at >= 0; at = next(text, needle, at) {
				if address := from + uint64(at); address >= start && address < start+window {
					hits = append(hits, hit{
						needle: name, address: address, region: r.name,
						before: bytes.Clone(text[max(0, at-vicinity):at]),
						after:  bytes.Clone(text[at+len(needle) : min(len(text), at+len(needle)+vicinity)]),
					})
				}
			}
		}
	}
	return hits, read, nil
}

func next(text, needle []byte, at int) int {
	i := bytes.Index(text[at+1:], needle)
	if i < 0 {
		return -1
	}
	return at + 1 + i
}

// sent reports whether a hit is in an object as the API server sends it, in Protobuf or JSON. The operator's
// copy of a Secret begins with apiVersion and kind, and has no managedFields. The bytes
// from the API server begin as an event or a list, and have managedFields after the
// annotations; a buffer may hold a part of them.
func (h hit) sent() bool {
	made := []byte(`{"apiVersion":"v1","kind":"Secret"`)
	before := h.before[max(0, bytes.LastIndex(h.before, made)):]
	for _, sign := range []string{
		`"kind":"PartialObjectMetadata"`, `"kind":"PartialObjectMetadataList"`, `"kind":"SecretList"`,
		`{"type":"ADDED","object":{`, `{"type":"MODIFIED","object":{`, `{"type":"DELETED","object":{`,
	} {
		if bytes.Contains(before, []byte(sign)) {
			return true
		}
	}
	after, _, _ := bytes.Cut(h.after, made)
	return bytes.Contains(after, []byte(`"managedFields":[{`)) || bytes.Contains(after, []byte("2\bFieldsV1:")) // field 6 of ManagedFieldsEntry
}

// String shows where a hit is and what is beside it.
func (h hit) String() string {
	return fmt.Sprintf("%s at %x (%s): %q … %q", h.needle, h.address, h.region,
		h.before[max(0, len(h.before)-200):], h.after[:min(len(h.after), 100)])
}
