//go:build !race

package expr

import (
	"context"
	"testing"
)

func FuzzCompileReferences(f *testing.F) {
	for _, text := range []string{
		"[]",
		"has(obj.spec.parent) ? [{'group': 'example.com', 'kind': 'Widget', 'name': obj.spec.parent}] : []",
		"obj.spec.items.map(i, {'group': '', 'kind': 'ConfigMap', 'name': i, 'namespace': namespace})",
		"[{'group': '', 'kind': 'Node', ?'name': obj.?spec.node}] + obj.spec.items",
		"obj.spec.items.filter(i, i != '').map(i, i != 'b', {'group': group, 'kind': obj.kind, 'name': i})",
		"lists.range(9000).map(i, {'group': '', 'kind': 'Node', 'name': string(i)})",
		"[obj, obj.spec, {}, {'name': 1}, {obj.kind: obj.kind}]",
		"[[{'group': {}}]]",
		"[{",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		started := allocated()
		defer func() {
			if made := allocated() - started; made > maxFuzzBytes {
				t.Errorf("%d bytes were made", made)
			}
		}()
		r, err := CompileReferences(t.Context(), nil, text)
		evaluate(t, text, err, func(ctx context.Context, in *Input) error {
			found, err := r.Find(ctx, in)
			if len(found) > maxFound {
				t.Errorf("%d are found", len(found))
			}
			for _, f := range found {
				if f.Name == "" || !isKindName(f.Kind) || !isGroupName(f.Group) || !isGroupName(f.Namespace) || !isObjectName(f.Name) {
					t.Errorf("found %+v", f)
				}
			}
			return err
		})
	})
}
