package offline

// applied returns a live object as it is once its manifest is applied. A list is the manifest's, as a whole.
// A field that the manifest lacks goes if a manager of the manifest's other fields made it, and stays if it
// is of the API server, of a controller or of another person. Status, owners and finalizers stay.
// partial says that both have nothing but metadata.
func applied(live, manifest map[string]any, partial bool) map[string]any {
	var own []map[string]any
	metadata, _ := live["metadata"].(map[string]any)
	for _, entry := range list(metadata["managedFields"]) {
		of, _ := entry.(map[string]any)
		fields, _ := of["fieldsV1"].(map[string]any)
		if text(of, "subresource") == "" && shares(fields, manifest, true) {
			own = append(own, fields)
		}
	}
	laid := copied(live)
	if !partial && text(live, "apiVersion") == text(manifest, "apiVersion") {
		laid = laidOver(live, manifest, own)
		laid["status"] = live["status"]
		if live["status"] == nil {
			delete(laid, "status")
		}
	}
	of, _ := manifest["metadata"].(map[string]any)
	about := copied(metadata)
	for _, member := range []string{"labels", "annotations"} {
		before, _ := metadata[member].(map[string]any)
		now, _ := of[member].(map[string]any)
		about[member] = laidOver(before, now, fieldsBelow(fieldsBelow(own, "metadata"), member))
	}
	laid["metadata"] = about
	return laid
}

// laidOver lays the fields of a map over the fields of a live map.
func laidOver(live, manifest map[string]any, own []map[string]any) map[string]any {
	laid := copied(manifest)
	for name, before := range live {
		now, has := manifest[name]
		below := fieldsBelow(own, name)
		of, isMap := before.(map[string]any)
		nowOf, staysMap := now.(map[string]any)
		switch {
		case isMap && (staysMap || !has && len(below) > 0):
			if rest := laidOver(of, nowOf, below); has || len(rest) > 0 {
				laid[name] = rest
			}
		case !has && len(below) == 0:
			laid[name] = before
		}
	}
	return laid
}

// fieldsBelow returns the parts of sets of managed fields that are about a member.
func fieldsBelow(own []map[string]any, member string) []map[string]any {
	var below []map[string]any
	for _, fields := range own {
		if of, ok := fields["f:"+member].(map[string]any); ok {
			below = append(below, of)
		}
	}
	return below
}

// shares reports whether a set of managed fields has a field of the manifest. At the top, only
// fields beside the metadata count, since every client may add labels and annotations.
func shares(fields, manifest map[string]any, top bool) bool {
	for member, value := range manifest {
		of, ok := fields["f:"+member].(map[string]any)
		if !ok || top && member == "metadata" {
			continue
		}
		if inner, isMap := value.(map[string]any); !isMap || len(inner) == 0 || shares(of, inner, false) {
			return true
		}
	}
	return false
}
