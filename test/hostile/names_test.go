package hostile

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNamesThatNoObjectHas: the objects of one namespace name many others with the longest of names. The
// references that take more memory than the namespace may hold are left out.
func TestNamesThatNoObjectHas(t *testing.T) {
	const objects, each, length = 36, 5000, 240
	withLess(t)
	namespace, other := newNamespace(t, "names"), newNamespace(t, "newcomer")
	apply(t, view(namespace, "accounts", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'serviceaccounts'"}}], namespaces: {names: [%s]}}`, namespace)))
	wantReady(t, namespace, "accounts")
	accounts := coreClient(t).ServiceAccounts(namespace)
	meanwhile(t, func(tries *tally) {
		inParallel(4, objects, func(i int) {
			// The API server keeps the manager of each element of secrets, and that of imagePullSecrets once.
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i)}, ImagePullSecrets: make([]corev1.LocalObjectReference, each)}
			for j := range account.ImagePullSecrets {
				account.ImagePullSecrets[j].Name = fmt.Sprintf("%04d-%04d-%s", i, j, strings.Repeat("x", length-10))
			}
			if _, err := accounts.Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
				t.Error(err)
				return
			}
			tries.add("created")
		})
		apply(t, small(other, "new"))
		wantReady(t, other, "new")
		eventually(t, func() string {
			if warnings := fmt.Sprint(status(t, namespace, "accounts")["warnings"]); !strings.Contains(warnings, "more memory than is free for its owner") {
				return "no reference is left out: " + warnings
			}
			return ""
		})
		tries.measure(t)
		deleteViews(t, namespace)
	})
	if err := accounts.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}
