package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/graphview/protobuf"
)

// multiplied is a replay that answers lists with many copies of the API server's objects. Each copy has other
// namespaces and nodes, and other names, UIDs and hashes where those are random, all as long as those of the load. So
// the engine reads a cluster that no API server on the measured machine could hold. Watches, but for those of pods,
// are the API server's own, which has the first copy.
type multiplied struct {
	*replay

	shape  shape // of the API server's objects
	copies int

	mu    sync.Mutex
	lists map[string]*pattern // by path and media type
}

func (b *bench) newMultiplied(ctx context.Context, copies int) *multiplied {
	m := &multiplied{shape: b.shape, copies: copies, lists: make(map[string]*pattern)}
	m.replay = &replay{plays: make(chan play), changes: b.changes, pods: record(ctx, b.plane.Config())}
	m.front = newFront(b.plane, "multiplied", m)
	return m
}

// ServeHTTP answers lists of the load in one page, as an API server does from its cache, and leaves other requests to the
// replay.
func (m *multiplied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	listed := slices.ContainsFunc(targets, func(t target) bool { return t.listPath() == r.URL.Path })
	if watches, _ := strconv.ParseBool(r.URL.Query().Get("watch")); watches || !listed {
		m.replay.ServeHTTP(w, r)
		return
	}
	p, err := m.pattern(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", p.mediaType)
	out := bufio.NewWriterSize(w, 1<<18)
	if p.write(out, m.copies) == nil {
		_ = out.Flush() // the reader has gone
	}
}

// pattern is the answer to a list in pieces.
type pattern struct {
	mediaType  string
	head, tail []byte
	separator  string
	items      []piece
}

// piece is an item of a list, and where it differs from copy to copy.
type piece struct {
	text []byte
	// once reports whether only the first copy has the item: it has neither a namespace nor a node of the load.
	once  bool
	marks []mark
}

// mark is a part of an item. Equal parts of all items have equal copies.
type mark struct {
	at, length int
	// step is added to a number for each copy; 0: the part is random, and seed is its hash.
	step int
	seed uint64
}

// word matches a letter of a random word.
const word = "[bcdfghjklmnpqrstvwxz2456789]"

// differs matches the parts of an object that differ in its copies: names of namespaces and nodes, UIDs, hashes, and the
// ends of names.
var differs = regexp.MustCompile(`bench-\d{3}|node-\d{5}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|` +
	`-` + word + `{10}-` + word + `{5}|-` + word + `{10}|` + word + `{10}|-` + word + `{5}`)

// pattern returns the answer of the API server to a list, from which the copies are made.
func (m *multiplied) pattern(r *http.Request) (*pattern, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	accept := r.Header.Get("Accept")
	if p, ok := m.lists[r.URL.Path+" "+accept]; ok {
		return p, nil
	}
	var body bytes.Buffer
	if _, err := copyList(r.Context(), m.client, m.target.JoinPath(r.URL.Path).String()+"?pretty=false", accept, &body); err != nil {
		return nil, err
	}
	p := &pattern{}
	var err error
	if list, ok := bytes.CutPrefix(body.Bytes(), []byte(protobuf.Prefix)); ok {
		err = p.cutProtobuf(list, m.copies, m.shape)
	} else {
		err = p.cutJSON(body.Bytes(), m.shape)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.URL.Path, err)
	}
	m.lists[r.URL.Path+" "+accept] = p
	return p, nil
}

func (p *pattern) cutJSON(body []byte, s shape) error {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	head, _, ok := bytes.Cut(body, []byte(`"items":[`))
	if !ok {
		return errors.New("it has no items")
	}
	p.mediaType = runtime.ContentTypeJSON
	p.head, p.separator, p.tail = slices.Concat(head, []byte(`"items":[`)), ",", []byte("]}\n")
	for _, item := range list.Items {
		p.items = append(p.items, pieceOf(item, s))
	}
	return nil
}

// cutProtobuf cuts a runtime.Unknown, without its prefix. Its fields come in the order of their numbers.
func (p *pattern) cutProtobuf(body []byte, copies int, s shape) error {
	outer, err := fields(body)
	if err != nil {
		return err
	}
	if len(outer) < 2 || outer[1].number != protobuf.RawField {
		return errors.New("it has no list")
	}
	list, err := fields(outer[1].value)
	if err != nil {
		return err
	}
	size, head := 0, []byte{}
	for _, field := range list {
		if field.number != protobuf.ItemsField {
			head, size = append(head, field.whole...), size+len(field.whole)
			continue
		}
		item := pieceOf(field.whole, s)
		p.items, size = append(p.items, item), size+item.copies(copies)*len(item.text)
	}
	p.mediaType = runtime.ContentTypeProtobuf
	p.head = append([]byte(protobuf.Prefix), outer[0].whole...)
	p.head = protowire.AppendVarint(protowire.AppendTag(p.head, protobuf.RawField, protowire.BytesType), uint64(size))
	p.head = append(p.head, head...)
	for _, field := range outer[2:] {
		p.tail = append(p.tail, field.whole...)
	}
	return nil
}

// field is a field of a message, with a length.
type field struct {
	number       protowire.Number
	whole, value []byte
}

// fields returns the fields of a message that has no others.
func fields(message []byte) (all []field, err error) {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeField(message)
		if n < 0 || wire != protowire.BytesType {
			return nil, protobuf.Malformed("a list")
		}
		value, _ := protowire.ConsumeBytes(message[protowire.SizeTag(number):n])
		all, message = append(all, field{number, message[:n:n], value}), message[n:]
	}
	return all, nil
}

// pieceOf finds the parts of an item that differ in its copies.
func pieceOf(text []byte, s shape) piece {
	p := piece{text: text, once: true}
	for _, found := range differs.FindAllIndex(text, -1) {
		m, part := mark{at: found[0], length: found[1] - found[0]}, text[found[0]:found[1]]
		switch {
		case bytes.HasPrefix(part, []byte("bench-")):
			m.step, p.once = s.namespaces, false
		case bytes.HasPrefix(part, []byte("node-")):
			m.step, p.once = s.nodes(), false
		default:
			hash := fnv.New64a()
			_, _ = hash.Write(bytes.TrimPrefix(part, []byte("-"))) // it never fails
			m.seed = hash.Sum64()
		}
		p.marks = append(p.marks, m)
	}
	return p
}

func (p *piece) copies(copies int) int {
	if p.once {
		return 1
	}
	return copies
}

// write writes all copies of the items, the first copy of all first.
func (p *pattern) write(w io.Writer, copies int) error {
	if _, err := w.Write(p.head); err != nil {
		return err
	}
	var text []byte
	for i := range copies {
		for k := range p.items {
			if i > 0 && p.items[k].once {
				continue
			}
			text = text[:0]
			if i+k > 0 {
				text = append(text, p.separator...)
			}
			if _, err := w.Write(p.items[k].append(text, i)); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(p.tail)
	return err
}

// append appends copy i of the piece; copy 0 is the API server's own.
func (p *piece) append(to []byte, i int) []byte {
	begin := len(to)
	to = append(to, p.text...)
	if i == 0 {
		return to
	}
	for _, m := range p.marks {
		part := to[begin+m.at : begin+m.at+m.length]
		if m.step > 0 {
			name, number, _ := strings.Cut(string(part), "-")
			n, _ := strconv.Atoi(number) // the expression matches digits
			copy(part, fmt.Sprintf("%s-%0*d", name, len(number), n+i*m.step))
			continue
		}
		scramble(part, rand.New(rand.NewPCG(m.seed, uint64(i))))
	}
	return to
}

// scramble replaces each letter and digit by another one of a UID's, or of a word's.
func scramble(part []byte, random *rand.Rand) {
	letters := "0123456789abcdef"
	if len(part) < 36 {
		letters = "bcdfghjklmnpqrstvwxz2456789"
	}
	for i, c := range part {
		if c != '-' {
			part[i] = letters[random.IntN(len(letters))]
		}
	}
}
