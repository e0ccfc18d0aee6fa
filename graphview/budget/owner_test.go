package budget

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestOwner(t *testing.T) {
	named := func(name string) Owner { return UserOwner(&user.DefaultInfo{Name: name}) }
	account := func(namespace, name string) Owner { return named(serviceaccount.MakeUsername(namespace, name)) }
	for name, test := range map[string]struct {
		a, b     Owner
		wantSame bool
	}{
		"ServiceAccounts of a namespace are one owner":            {account("shop", "a"), account("shop", "b"), true},
		"a ServiceAccount belongs to its namespace":               {account("shop", "a"), NamespaceOwner("shop"), true},
		"ServiceAccounts of two namespaces are two owners":        {account("shop", "a"), account("bank", "a"), false},
		"two users are two owners":                                {named("ann"), named("ben"), false},
		"a user is not the namespace of that name":                {named("shop"), NamespaceOwner("shop"), false},
		"a user cannot take the name of another owner":            {named("namespace shop"), NamespaceOwner("shop"), false},
		"an account without a namespace does not own the cluster": {named("system:serviceaccount::a"), NamespaceOwner(""), false},
		"no tenant owns nothing":                                  {Owner{}, NamespaceOwner(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := test.a == test.b; same != test.wantSame {
				t.Errorf("%q and %q: same %t, want %t", test.a, test.b, same, test.wantSame)
			}
		})
	}
}
