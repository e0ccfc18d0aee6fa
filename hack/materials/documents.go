package materials

import (
	"cmp"
	"runtime/debug"
)

// Object is a document, or a part of one. JSON writes a map in the order of its keys.
type Object map[string]any

// Materials is the CycloneDX document of a program: its modules, as they were
// compiled in, and Go's standard library. The version is that of the program, or
// empty for the one that Go found.
func (p Program) Materials(version string) Object {
	components := []Object{{
		"type": "library", "name": "stdlib", "version": p.info.GoVersion, "purl": "pkg:golang/stdlib@" + p.info.GoVersion,
	}}
	for _, module := range p.info.Deps {
		components = append(components, component(module))
	}
	return Object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": Object{"component": Object{
			"type": "application", "name": p.Name, "version": cmp.Or(version, p.info.Main.Version),
			"hashes": []Object{{"alg": "SHA-256", "content": p.Digest}},
		}},
		"components": components,
	}
}

func component(module *debug.Module) Object {
	if module.Replace != nil {
		module = module.Replace
	}
	return Object{
		"type": "library", "name": module.Path, "version": module.Version, "purl": "pkg:golang/" + module.Path + "@" + module.Version,
		"properties": []Object{{"name": "go:sum", "value": module.Sum}},
	}
}

// Build is what a statement is about.
type Build struct {
	// Subjects are the files that were built; none: the programs.
	Subjects []File
	Programs []Program
	// Commit is what was built; empty: the commit that Go found.
	Commit string
	// Modified says that the commit is not all of it.
	Modified bool
}

// Provenance is the in-toto statement about a build, with the predicate of SLSA.
func Provenance(b Build) Object {
	var subjects []Object
	parameters := Object{}
	commit := b.Commit
	for _, p := range b.Programs {
		settings := Object{"go": p.info.GoVersion, "package": p.info.Path}
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
	source := Object{}
	if commit != "" {
		source = Object{"uri": "git+https://graphview.dev", "digest": Object{"gitCommit": commit}}
	}
	if b.Modified {
		source["annotations"] = Object{"modified": true}
	}
	return Object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": Object{
			"buildDefinition": Object{
				"buildType": "https://graphview.dev/build/go/v1", "externalParameters": parameters,
				"resolvedDependencies": []Object{source},
			},
			"runDetails": Object{"builder": Object{"id": "https://graphview.dev/build/make"}},
		},
	}
}

func (f File) subject() Object {
	return Object{"name": f.Name, "digest": Object{"sha256": f.Digest}}
}
