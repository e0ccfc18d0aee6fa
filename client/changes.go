package client

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

// Changes and the types below are the types of answers to a question about the history of a graph.
type (
	// Changes has the changes of the objects of a graph, the newest first.
	Changes = streamv1alpha1.GraphChanges
	// Change is one change of one object.
	Change = streamv1alpha1.Change
	// ChangeType is the type of a change.
	ChangeType = streamv1alpha1.ChangeType
	// HealthChange is a change of the health of an object.
	HealthChange = streamv1alpha1.HealthChange
	// ChangedPath is a field that changed.
	ChangedPath = streamv1alpha1.ChangedPath
	// ReferenceChange is a change of a reference of the object.
	ReferenceChange = streamv1alpha1.ReferenceChange
	// ChangeVia is the last step from the object of the question to the changed one.
	ChangeVia = streamv1alpha1.ChangeVia
	// Gap is a time in which changes were not recorded one by one.
	Gap = streamv1alpha1.Gap
)

// The types of changes.
const (
	ChangeAdded     = streamv1alpha1.ChangeAdded
	ChangeRemoved   = streamv1alpha1.ChangeRemoved
	ChangeHealth    = streamv1alpha1.ChangeHealth
	ChangeContent   = streamv1alpha1.ChangeContent
	ChangeReference = streamv1alpha1.ChangeReference
)

// The operations of a ChangedPath, and of a ReferenceChange.
const (
	OpAdded   = streamv1alpha1.OpAdded
	OpRemoved = streamv1alpha1.OpRemoved
	OpChanged = streamv1alpha1.OpChanged
	OpMissing = streamv1alpha1.OpMissing
)

// ChangesOptions are the options of a question about the history. The zero value asks for all changes of a graph.
type ChangesOptions struct {
	// Object is the object whose changes are asked for, with those of the objects that it leads to. Its key needs no version. Nil: the
	// whole graph.
	Object *Key
	// Since and Until bound the time of the changes: a duration before now of the server's clock, such as 2h, or a time of
	// RFC 3339.
	Since, Until string
	// Alone leaves out the objects that the object leads to.
	Alone bool
	// Limit bounds the number of changes; 0 is the limit of the server.
	Limit int
}

// query returns the parameters of a request with the options.
func (o *ChangesOptions) query() url.Values {
	query := url.Values{"changes": {""}}
	if o.Object != nil {
		query.Set("changes", rootName(*o.Object))
	}
	for name, value := range map[string]string{"since": o.Since, "until": o.Until} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.Alone {
		query.Set("alone", "true")
	}
	if o.Limit > 0 {
		query.Set("limit", strconv.Itoa(o.Limit))
	}
	return query
}

// Changes returns the changes of a graph, or of an object and the objects that it leads to. To follow the history, a caller asks again,
// with the time Until of the last answer as Since. The error is IsHistoryOff if the server keeps no history, and IsNotFound
// if neither the graph nor its history has the object.
func (c *Client) Changes(ctx context.Context, namespace, name string, o ChangesOptions) (*Changes, error) {
	found := &Changes{}
	if err := c.getAnswer(ctx, c.url(o.query(), "namespaces", namespace, "graphs", name), found); err != nil {
		return nil, err
	}
	if found.Changes == nil {
		return nil, errOlder
	}
	return found, nil
}

// errOlder is the error for an answer to another question, of a server that does not know the parameter.
var errOlder = errors.New("the server is older than this question")

// IsHistoryOff reports whether an error says that the server keeps no history.
func IsHistoryOff(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "history"
}
