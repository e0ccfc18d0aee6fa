package env

import (
	"context"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSavedData wants an object of one control plane in another, which goes on
// from there.
func TestSavedData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "saved")
	options := metav1.CreateOptions{}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"}}
	first, err := StartFilled(t.Context(), Options{}, data, false, func(_ context.Context, c *ControlPlane) error {
		eventually(t, func(ctx context.Context) error {
			_, err := clientset(t, c.Config()).CoreV1().ConfigMaps("default").Create(ctx, kept, options)
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, first)
	if err := first.SaveData(t.Context(), data); err == nil {
		t.Error("saved over what is there")
	}

	second := clientset(t, StartT(t, Options{Data: data}).Config()).CoreV1().ConfigMaps("default")
	got, err := second.Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Data["a"] != "b" {
		t.Errorf("the object has %v, want what was saved", got.Data)
	}
	if _, err := second.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, options); err != nil {
		t.Error(err)
	}
}
