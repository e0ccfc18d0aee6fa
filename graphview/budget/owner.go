package budget

import "strings"

// Owner is the tenant that a budget, a share or a turn belongs to. It is comparable.
// Only [NamespaceOwner] and [UserOwner] create one, so no caller can give each ServiceAccount
// limits of its own: a user that may create one ServiceAccount can create many. The zero
// Owner is no tenant.
type Owner struct{ name string }

// User is a user.Info of Kubernetes.
type User interface{ GetName() string }

// NamespaceOwner is the owner of the GraphViews of a namespace. The empty namespace
// owns cluster-scoped objects, such as ReferenceRules.
func NamespaceOwner(namespace string) Owner { return Owner{"namespace " + namespace} }

// UserOwner is the owner of the requests of a user. The owner of a ServiceAccount is its
// namespace.
func UserOwner(u User) Owner {
	name := u.GetName()
	if account, ok := strings.CutPrefix(name, "system:serviceaccount:"); ok {
		if namespace, account, ok := strings.Cut(account, ":"); ok && namespace != "" && account != "" {
			return NamespaceOwner(namespace)
		}
	}
	return Owner{userPrefix + name}
}

// isUser reports whether the owner is a user. Users own no objects.
func (o Owner) isUser() bool { return strings.HasPrefix(o.name, userPrefix) }

// userPrefix is before the name of a user; names of namespaces have another prefix.
const userPrefix = "user "

// String names the owner for logs and digests.
func (o Owner) String() string { return o.name }
