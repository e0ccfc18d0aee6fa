package main

import (
	"cmp"
	"runtime/debug"
)

// object is a document, or a part of one. JSON writes the keys of a map in order.
type object map[string]any

// materials returns the CycloneDX document of a program: its modules and Go's standard
// library. An empty version stands for the version in the build information.
func (p program) materials(version string) object {
	components := []object{{
		"type": "library", "name": "stdlib", "version": p.info.GoVersion, "purl": "pkg:golang/stdlib@" + p.info.GoVersion,
	}}
	for _, module := range p.info.Deps {
		components = append(components, component(module))
	}
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{"component": object{
			"type": "application", "name": p.Name, "version": cmp.Or(version, p.info.Main.Version),
			"hashes": []object{{"alg": "SHA-256", "content": p.Digest}},
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

// build is the subject of a provenance statement.
type build struct {
	// Subjects are the built files. None: the programs.
	Subjects []file
	Programs []program
	// Commit that was built. Empty: the commit in the build information.
	Commit string
	// Modified means that files differed from the commit.
	Modified bool
}

// provenance returns the in-toto statement about a build, with the SLSA predicate.
func provenance(b build) object {
	var subjects []object
	parameters := object{}
	commit := b.Commit
	for _, p := range b.Programs {
		settings := object{"go": p.info.GoVersion, "package": p.info.Path}
		for _, setting := range p.info.Settings {
			settings[setting.Key] = setting.Value
			if setting.Key == "vcs.revision" {
				commit = cmp.Or(commit, setting.Value)
			}
		}
		parameters[p.Name] = settings
		if len(b.Subjects) == 0 {
			subjects = append(subjects, p.subject())
		}
	}
	for _, file := range b.Subjects {
		subjects = append(subjects, file.subject())
	}
	source := object{}
	if commit != "" {
		source = object{"uri": "git+https://graphview.dev", "digest": object{"gitCommit": commit}}
	}
	if b.Modified {
		source["annotations"] = object{"modified": true}
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

func (f file) subject() object {
	return object{"name": f.Name, "digest": object{"sha256": f.Digest}}
}
