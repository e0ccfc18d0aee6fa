package main

import "runtime/debug"

// The documents are maps, which JSON writes in order of their keys.
type object map[string]any

// materials is the CycloneDX document of a program: its modules, as they were
// compiled in, and Go's standard library.
func (p program) materials() object {
	components := []object{{
		"type": "library", "name": "stdlib", "version": p.info.GoVersion, "purl": "pkg:golang/stdlib@" + p.info.GoVersion,
	}}
	for _, module := range p.info.Deps {
		components = append(components, component(module))
	}
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{"component": object{
			"type": "application", "name": p.name, "version": p.info.Main.Version,
			"hashes": []object{{"alg": "SHA-256", "content": p.digest}},
		}},
		"components": components,
	}
}

func component(module *debug.Module) object {
	if module.Replace != nil {
		module = module.Replace
	}
	return object{
		"type": "library", "name": module.Path, "version": module.Version, "purl": "pkg:golang/" + module.Path + "@" + module.Version,
		"properties": []object{{"name": "go:sum", "value": module.Sum}},
	}
}

// provenance is the in-toto statement about programs, with the predicate of SLSA.
func provenance(programs []program) object {
	var subjects []object
	parameters := object{}
	source := object{}
	for _, p := range programs {
		subjects = append(subjects, object{"name": p.name, "digest": object{"sha256": p.digest}})
		settings := object{"go": p.info.GoVersion, "package": p.info.Path}
		for _, setting := range p.info.Settings {
			settings[setting.Key] = setting.Value
			if setting.Key == "vcs.revision" {
				source = object{"uri": "git+https://" + p.info.Main.Path, "digest": object{"gitCommit": setting.Value}}
			}
		}
		parameters[p.name] = settings
	}
	return object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType": "https://graphview.dev/build/go/v1", "externalParameters": parameters,
				"resolvedDependencies": []object{source},
			},
			"runDetails": object{"builder": object{"id": "https://graphview.dev/build/make"}},
		},
	}
}
