package refs

import "graphview.dev/graphview/graph"

// owners adds the owner references. An owner is in the object's namespace or
// cluster-scoped; that depends only on its kind.
func (e *extraction) owners(served *Served, metadata map[string]any) {
	owners, _ := metadata["ownerReferences"].([]any)
	for _, element := range owners {
		owner, _ := element.(map[string]any)
		apiVersion, _ := owner["apiVersion"].(string)
		kind, _ := owner["kind"].(string)
		name, _ := owner["name"].(string)
		group, ok := groupOf(apiVersion)
		if !ok || apiVersion == "" || kind == "" || name == "" {
			continue
		}
		ref := graph.Reference{
			Type:      graph.OwnerReference,
			To:        graph.Kind{Group: group, Kind: kind},
			Namespace: e.namespace,
			Name:      name,
		}
		ref.UID, _ = owner["uid"].(string)
		ref.Controller, _ = owner["controller"].(bool)
		ref.BlockOwnerDeletion, _ = owner["blockOwnerDeletion"].(bool)
		if exists(&ref) {
			e.found.append(&ref)
		}
		if ref.UID == "" || served == nil || served.Serves(ref.To) {
			continue
		}
		// If the kind has moved to another group, the owner is an object of that group with the UID.
		ref.Inferred, ref.Optional = true, true
		for _, moved := range served.byName[ref.To.Kind] {
			ref.To = moved
			e.found.append(&ref)
		}
	}
}
