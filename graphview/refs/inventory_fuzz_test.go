package refs

import "testing"

func FuzzInventoryID(f *testing.F) {
	for _, id := range []string{"shop_web_apps_Deployment", "_web__Namespace", "a_b_c_d_e", "____", "", "shop_system__web_rbac.authorization.k8s.io_Role", "\xff_\xff_\xff_\xff"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		r, ok := parseInventoryID(id)
		if ok && (r.Name == "" || r.To.Kind == "") {
			t.Errorf("%q is %+v", id, r)
		}
	})
}
