package env

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AwaitNamespace waits until a new namespace has the objects of the controller manager: the ServiceAccount default, without
// which it admits no pod, and the ConfigMap kube-root-ca.crt. Otherwise they come in the middle of a test that counts objects. It
// returns at once if there is no controller manager.
func (c *ControlPlane) AwaitNamespace(ctx context.Context, name string) error {
	if c.controllerManager == nil {
		return nil
	}
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		if _, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return false, err, nil
		}
		_, err := client.CoreV1().ConfigMaps(name).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, err, nil
	})
	if err != nil {
		return fmt.Errorf("what the controller manager puts into namespace %s: %w", name, err)
	}
	return nil
}
