package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// pageSize is the most objects that a page has. It is that of client-go, which every
	// API server is used to: a few megabytes. Larger pages would save little, since
	// 100,000 objects take 200 requests of a few milliseconds each.
	pageSize = 500
	// steadyPages is after how many whole pages in a row the next may have twice as many
	// objects. Where all answers beyond some size end early, that is one in so many.
	steadyPages = 32
	// fastPages is how long a list in pages takes where one answer would do.
	fastPages = 10 * time.Second
	// cautious is for how long after an answer that ended early all lists come in pages.
	cautious = time.Hour
	// longestBreak is how long a list may be interrupted. An API server compacts every
	// five minutes: after that, what came before would have to be read again anyway.
	longestBreak = 5 * time.Minute
	// mostSeen bounds the hashes of pages that are remembered, two for each page: a server
	// may give tokens without an end.
	mostSeen = 1 << 17
	// mostEmpty is how many pages in a row may have no object. A server may take a page first and
	// then leave out what was not asked for: in pages of 500 it may leave out five million objects.
	mostEmpty = 10_000
)

var errEndless = errors.New("the server's pages repeat, or have no objects")

// pages is how the lists of a Watch are asked for, and where one of them is.
//
// A list is asked for in one answer, until one ends early: asked for again, it would
// end early again. From then on lists come in pages. A page that ends early is asked for
// again with fewer objects, and a list that is interrupted goes on where it was. What
// was read stays, so a list ends however slow the server is.
//
// All pages have the first page's resource version, and the watch begins there, so it has all
// changes during the list. If the server no longer has that version (410), it gives a token for
// the present objects and the list continues with those. The watch still begins at the first
// page's version, for the changes of earlier pages. If that is too old for a watch, the list begins
// again.
type pages struct {
	// size is how many objects are asked for at once, 0 for all.
	size int64
	// whole is how many pages in a row came whole.
	whole int
	// cut is when an answer ended early last.
	cut time.Time

	// next is the token of the next page, empty where no list is under way.
	next string
	// version is the resource version of the first page.
	version string
	began   time.Time
	// last is when the last page came.
	last time.Time
	// seen are the hashes of the tokens and of the first objects of the pages, of all or of
	// as many as are remembered.
	seen map[uint64]struct{}
	// empty is how many pages in a row had no object.
	empty int
	// renewed: next replaces a token that was too old.
	renewed bool
}

// restart notes that a list begins.
func (p *pages) restart(now time.Time) {
	*p = pages{size: p.size, whole: p.whole, cut: p.cut, began: now}
}

// goesOn reports whether a list is under way whose last page is recent.
func (p *pages) goesOn(now time.Time) bool { return p.next != "" && now.Sub(p.last) < longestBreak }

// request asks for the next page. Without a resource version the first is of the newest:
// with "0" an API server ignores the limit.
func (p *pages) request() metav1.ListOptions {
	return metav1.ListOptions{Limit: p.size, Continue: p.next}
}

// took notes that a page came whole, and returns the list that it completes, if it does.
// first is the hash of the page's first object, 0 if it has none.
// A list in pages that is as fast as one answer is the last one in pages, unless an answer
// ended early not long ago.
func (p *pages) took(page *metav1.List, first uint64, now time.Time) (*metav1.List, error) {
	if err := p.noEnd(page.Continue, first); err != nil {
		p.next = ""
		return nil, err
	}
	if p.next == "" {
		p.version = page.ResourceVersion
	}
	p.next, p.renewed, p.last = page.Continue, false, now
	if p.whole++; p.whole >= steadyPages {
		p.size, p.whole = min(2*p.size, pageSize), 0
	}
	if p.next != "" {
		return nil, nil
	}
	if now.Sub(p.cut) >= cautious && now.Sub(p.began) < fastPages {
		p.size, p.whole = 0, 0
	}
	return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: p.version}}, nil
}

// noEnd returns an error if the pages of a list come to no end. A page without a token is the
// last.
func (p *pages) noEnd(token string, first uint64) error {
	switch {
	case token == "":
		return nil
	case p.repeats(token, first):
		return errEndless
	case first != 0:
		p.empty = 0
		return nil
	}
	if p.empty++; p.empty > mostEmpty {
		return errEndless
	}
	return nil
}

// repeats records a page and reports whether the list has had it before. A server that ignores
// tokens may still give another token with each page, and a cycle may have several pages.
func (p *pages) repeats(token string, first uint64) bool {
	if p.seen == nil || len(p.seen) > mostSeen-2 {
		p.seen = make(map[uint64]struct{})
	}
	before := len(p.seen)
	p.seen[maphash.String(seed, token)] = struct{}{}
	added := 1
	if first != 0 {
		p.seen[first] = struct{}{}
		added++
	}
	return len(p.seen) < before+added
}

// failed records the failure of a page, and reports whether the list continues at once.
// It goes on later where the failure says nothing of the list.
func (p *pages) failed(err error) (again bool) {
	switch {
	case p.next == "":
	case expired(err):
		// A server that gives one such token after the other gets nowhere.
		again = !p.renewed && renewal(err) != ""
		p.next, p.renewed = "", again
		if again {
			p.next = renewal(err)
		}
	case reasonFor(err) != Failing, tooLarge(err):
		p.next = ""
	}
	return again
}

// renewal is the token for the rest of a list as it is now, which a server gives with the
// answer that the list as it was is not known any more.
func renewal(err error) string {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.ErrStatus.Continue
	}
	return ""
}

// endedEarly notes that an answer ended after so many objects. Half of what came
// before should come again.
func (p *pages) endedEarly(objects int, now time.Time) {
	size := int64(pageSize)
	if p.size > 0 {
		size = p.size / 2
	}
	if objects > 0 {
		size = min(size, int64(objects)/2)
	}
	p.size, p.whole, p.cut = max(size, 1), 0, now
}

// listPages reads a list in pages. It continues an interrupted list.
func (s *source) listPages(ctx context.Context) (*metav1.List, error) {
	p := &s.pages
	if !p.goesOn(time.Now()) {
		if err := s.watch.beginList(ctx); err != nil {
			return nil, err
		}
		p.restart(time.Now())
		s.before = s.retry
	}
	for {
		page, first, err := s.list(ctx, p.request())
		if err != nil {
			if p.failed(err) {
				continue
			}
			return nil, err
		}
		// The list gets on: what failed since it began delays nothing any more.
		s.retry = s.before
		if list, err := p.took(page, first, time.Now()); list != nil || err != nil {
			return list, err
		}
	}
}
