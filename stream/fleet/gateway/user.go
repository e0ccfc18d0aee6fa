package gateway

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/user"
)

const (
	// maxGroups and maxUser bound the groups and the bytes of the names of a user.
	maxGroups = 256
	maxUser   = 16 << 10
	// userHeader has the user of the hub, as base64url of the JSON of named.
	userHeader = "Graphview-User"
)

// named is a user as the hub names it: no UID and no extra, which mean nothing in the member.
type named struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// check returns why a user cannot be named.
func (n *named) check() error {
	size := len(n.Name)
	for _, group := range n.Groups {
		size += len(group)
	}
	switch {
	case n.Name == "":
		return errors.New("the hub names no user")
	case len(n.Groups) > maxGroups || size > maxUser:
		return fmt.Errorf("a user of another cluster may have at most %d groups, and %d bytes of names", maxGroups, maxUser)
	}
	return nil
}

// SetUser names the user of a request, in place of any other that the header names. The error
// is about the user's groups.
func SetUser(header http.Header, who user.Info) error {
	header.Del(userHeader)
	n := named{Name: who.GetName(), Groups: who.GetGroups()}
	if err := n.check(); err != nil {
		return err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	header.Set(userHeader, base64.RawURLEncoding.EncodeToString(text))
	return nil
}

// userOf returns the user of this cluster for the user of the hub in a header.
func userOf(header http.Header, prefix string) (user.Info, error) {
	values := header.Values(userHeader)
	if len(values) != 1 {
		return nil, fmt.Errorf("%d headers %s, not one", len(values), userHeader)
	}
	text, err := base64.RawURLEncoding.DecodeString(values[0])
	if err != nil {
		return nil, fmt.Errorf("header %s: %w", userHeader, err)
	}
	var n named
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("header %s: %w", userHeader, err)
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	who := &user.DefaultInfo{Name: prefix + n.Name, Groups: make([]string, 0, len(n.Groups))}
	for _, group := range n.Groups {
		who.Groups = append(who.Groups, prefix+group)
	}
	return who, nil
}
