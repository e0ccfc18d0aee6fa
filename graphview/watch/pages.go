package watch

import (
	"cmp"
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// pageSize is the limit of the first page. It is client-go's default page size, a few
	// megabytes. Larger pages would save little, because 100,000 objects take only 200
	// requests of a few milliseconds each.
	pageSize = 500
	// longestBreak is how long a list may be interrupted before it begins again. An API
	// server compacts etcd every five minutes. After that, the watch could not begin at the
	// first page's version, and all pages would be read again anyway.
	longestBreak = 5 * time.Minute
	// mostEmpty is how many pages in a row may have no object. A server may read a page first and
	// then apply the selectors: with pages of 500 it may leave out five million objects.
	mostEmpty = 10_000
)

var errEndless = errors.New("the server's pages repeat, or have no objects")

// pages decides how the lists of a Watch are requested, and has the position of the current list.
//
// Lists are requested in one response until a response ends early, because the same request would
// end early again. From then on, lists of the Watch are requested in pages. A page that ends early is
// requested again with half as many objects, and an interrupted list continues where it was. Objects
// that were read stay, so a list completes even if the server is slow.
//
// All pages have the first page's resource version, and the watch begins there, so it has all
// changes during the list. If the server no longer has that version (410), it returns a token for
// the current objects and the list continues with them. The watch still begins at the first
// page's version, for changes to objects of earlier pages. If that is too old for a watch, the list
// begins again.
type pages struct {
	// size is the limit of a page, 0 for a list in one response.
	size int64

	// next is the continue token of the next page, empty if no list is in progress.
	next string
	// version is the resource version of the first page.
	version string
	// last is when the last page was complete.
	last time.Time
	// first is the hash of the first object of the list, 0 if it has had none.
	first uint64
	// empty is how many pages in a row had no objects.
	empty int
	// renewed: next is from the 410 answer to a token that was too old.
	renewed bool
}

func (p *pages) restart() { *p = pages{size: p.size} }

// inProgress reports whether a list is in progress and its last page is recent.
func (p *pages) inProgress(now time.Time) bool { return p.next != "" && now.Sub(p.last) < longestBreak }

// request returns the options for the next page. It has no resource version, so the first page
// is of the newest version. With version "0" an API server would ignore the limit.
func (p *pages) request() metav1.ListOptions {
	return metav1.ListOptions{Limit: p.size, Continue: p.next}
}

// done records a complete page, and returns the list, without items, if the page is the last.
// first is the hash of the page's first object, 0 if it has none.
func (p *pages) done(page *metav1.List, first uint64, now time.Time) (*metav1.List, error) {
	if err := p.checkEnd(page.Continue, first); err != nil {
		p.next = ""
		return nil, err
	}
	if p.next == "" {
		p.version = page.ResourceVersion
	}
	p.next, p.renewed, p.last = page.Continue, false, now
	if p.next != "" {
		return nil, nil
	}
	return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: p.version}}, nil
}

// checkEnd returns an error if the pages of a list have no end: a page has the token that it was requested
// with, or the list begins again, since the server ignores tokens. The last page has no token.
func (p *pages) checkEnd(token string, first uint64) error {
	switch {
	case token == "":
		return nil
	case token == p.next, first != 0 && first == p.first:
		return errEndless
	case first != 0:
		p.first, p.empty = cmp.Or(p.first, first), 0
		return nil
	}
	if p.empty++; p.empty > mostEmpty {
		return errEndless
	}
	return nil
}

// failed records the failure of a page, and reports whether the list continues at once. If it
// does not, it continues with a later request, or begins again if next is empty.
func (p *pages) failed(err error) (again bool) {
	switch {
	case p.next == "":
	case expired(err):
		// A second renewal in a row means that the list makes no progress.
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

// renewal returns the continue token of a 410 answer, with which the rest of the list can
// be read at the current version, or "".
func renewal(err error) string {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.ErrStatus.Continue
	}
	return ""
}

// endedEarly records that a response ended early after so many objects. The next page has
// at most half as many.
func (p *pages) endedEarly(objects int) {
	size := int64(pageSize)
	if p.size > 0 {
		size = p.size / 2
	}
	if objects > 0 {
		size = min(size, int64(objects)/2)
	}
	p.size = max(size, 1)
}

// listPages reads a list in pages. It continues an interrupted list.
func (lw *listWatcher) listPages(ctx context.Context) (*metav1.List, error) {
	p := &lw.pages
	if !p.inProgress(time.Now()) {
		if err := lw.watch.beginList(ctx); err != nil {
			return nil, err
		}
		p.restart()
		lw.retryBeforeList = lw.retry
	}
	for {
		page, first, err := lw.list(ctx, p.request())
		if err != nil {
			if p.failed(err) {
				continue
			}
			return nil, err
		}
		// The list makes progress: forget the failures since it began.
		lw.retry = lw.retryBeforeList
		if list, err := p.done(page, first, time.Now()); list != nil || err != nil {
			return list, err
		}
	}
}
