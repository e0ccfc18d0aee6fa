package graphview

import (
	"context"
	"errors"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/spec"
)

// subject identifies whose rights restrict a view: those of a ServiceAccount, of the subscriber of an
// ad-hoc view or, as the zero value, of this process.
type subject struct {
	account Name
	view    *View
}

// subjectAnswers are the answers about a subject while its rights restrict a view.
type subjectAnswers struct {
	*access.Answers

	end context.CancelFunc // of Run
}

// restrict makes the rights that the spec demands restrict the view. It returns the name of their
// account for warnings, "" if the view is not restricted.
func (k *keeper) restrict(p *spec.Program) (who string) {
	permit, of, who := k.view.permitOf(p)
	if k.rights != nil && (permit == nil || of != k.subject) {
		k.unrestrict()
	}
	if k.rights == nil && permit != nil {
		k.subject, k.rights = of, k.view.engine.depend(k.life, of, permit, k.view.evaluator.Kick)
	}
	return who
}

// unrestrict ends the restriction of the view, if there is one.
func (k *keeper) unrestrict() {
	if k.rights != nil {
		k.view.engine.undepend(k.subject, k.rights)
		k.rights = nil
	}
}

// permitOf returns the Permit that restricts the view's watches, nil if there is none, with its subject
// and the name of that for warnings.
func (v *View) permitOf(p *spec.Program) (permit Permit, of subject, who string) {
	switch {
	case v.engine.o.Own != nil:
		return v.engine.o.Own, subject{}, "you"
	case v.permit != nil:
		return v.permit, subject{view: v}, "you"
	case p.Spec.ServiceAccountName == "":
		return nil, subject{}, ""
	}
	account := Name{v.name.Namespace, p.Spec.ServiceAccountName}
	return func(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
		if v.engine.o.Permit == nil {
			return nil, errors.New("this server cannot decide for service accounts")
		}
		return v.engine.o.Permit(ctx, account, places)
	}, subject{account: account}, "service account " + account.Name
}

// depend adds a view to the views of a subject, whose rights restrict them. The first one starts the questions
// of the subject, with the values of ctx.
func (e *Engine) depend(ctx context.Context, of subject, permit Permit, notify func()) *access.Dependent {
	e.mu.Lock()
	defer e.mu.Unlock()
	known, ok := e.answers[of]
	if !ok {
		asking, end := context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // undepend calls it
		known = subjectAnswers{access.NewAnswers(access.AnswersOptions{Ask: permit, Interval: e.o.PermitInterval, Within: e.o.SyncTimeout}), end}
		e.answers[of] = known
		e.running.Go(func() { known.Run(asking) })
	}
	return known.Depend(notify)
}

// undepend undoes depend. The last view ends the questions about the subject.
func (e *Engine) undepend(of subject, d *access.Dependent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d.Close() {
		e.answers[of].end()
		delete(e.answers, of)
	}
}

// namespacesPlace is the right to list and watch Namespaces.
var namespacesPlace = access.Place{Resource: "namespaces"}

// MayListNamespaces returns whether a ServiceAccount may list and watch Namespaces, and whether that is
// known. It becomes known while the account restricts a view that names namespaces.
func (e *Engine) MayListNamespaces(account Name) (may, known bool) {
	e.mu.Lock()
	answers, ok := e.answers[subject{account: account}]
	e.mu.Unlock()
	if !ok {
		return false, false
	}
	return answers.Allowed(namespacesPlace)
}
