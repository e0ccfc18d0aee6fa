package troubles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"graphview.dev/api/v1alpha1"
)

// patchLink patches the ClusterLink of the troubled member.
func (e *episode) patchLink(ctx context.Context, patch string) error {
	_, err := hubPlane.Kubectl(ctx, "patch", "clusterlink", e.troubled().link, "--type=merge", "-p", patch)
	return err
}

// link returns the ClusterLink of the troubled member.
func (e *episode) link(ctx context.Context) (l v1alpha1.ClusterLink, err error) {
	text, err := hubPlane.Kubectl(ctx, "get", "clusterlink", e.troubled().link, "-o", "json")
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(text, &l)
}

// create creates a ClusterLink.
func create(ctx context.Context, name string, spec v1alpha1.ClusterLinkSpec) error {
	text, err := json.Marshal(map[string]any{"apiVersion": "graphview.dev/v1alpha1", "kind": "ClusterLink", "metadata": map[string]any{"name": name}, "spec": spec})
	if err != nil {
		return err
	}
	file := filepath.Join(hubPlane.Dir(), name+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	_, err = hubPlane.Kubectl(ctx, "create", "-f", file)
	return err
}

func remove(ctx context.Context, name string) error {
	_, err := hubPlane.Kubectl(ctx, "delete", "clusterlink", name)
	return err
}

// remade deletes the link and makes it again, as kubectl replace --force and pruning tools do.
func remade(ctx context.Context, e *episode) error {
	l, err := e.link(ctx)
	if err != nil {
		return err
	}
	return errors.Join(remove(ctx, l.Name), e.wait(ctx, e.some(3*time.Second)), create(ctx, l.Name, l.Spec))
}

func twin(ctx context.Context, e *episode) error {
	l, err := e.link(ctx)
	if err != nil {
		return err
	}
	return errors.Join(create(ctx, "twin", l.Spec), e.wait(ctx, e.some(4*time.Second)), remove(ctx, "twin"))
}

// keys is a set of keys.
type keys struct {
	Keys []any `json:"keys"`
}

// withKeys patches the keys of the link.
func (e *episode) withKeys(ctx context.Context, set string) error {
	text, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return e.patchLink(ctx, fmt.Sprintf(`{"spec":{"identity":{"jwks":%s}}}`, text))
}

// others returns the keys of the link, those of another cluster, and both together.
func (e *episode) others(ctx context.Context) (own, other, both string, err error) {
	l, err := e.link(ctx)
	if err != nil {
		return "", "", "", err
	}
	foreign, err := hubPlane.Kubectl(ctx, "get", "--raw", "/openid/v1/jwks")
	if err != nil {
		return "", "", "", err
	}
	own, other = l.Spec.Identity.JWKS, string(foreign)
	var set, more keys
	if err := errors.Join(json.Unmarshal([]byte(own), &set), json.Unmarshal(foreign, &more)); err != nil {
		return "", "", "", err
	}
	set.Keys = append(set.Keys, more.Keys...)
	text, err := json.Marshal(set)
	return own, other, string(text), err
}

// rotated adds a key and removes it, as a rotation by the book does.
func rotated(ctx context.Context, e *episode) error {
	own, _, both, err := e.others(ctx)
	if err != nil {
		return err
	}
	return errors.Join(e.withKeys(ctx, both), e.wait(ctx, e.some(3*time.Second)), e.withKeys(ctx, own))
}

func wrongKeys(ctx context.Context, e *episode) error {
	own, other, _, err := e.others(ctx)
	if err != nil {
		return err
	}
	return errors.Join(e.withKeys(ctx, other), e.wait(ctx, e.some(5*time.Second)), e.withKeys(ctx, own))
}
