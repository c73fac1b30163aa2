package typescript

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// runtimeVersion is the version of @lumi/lumi on which new packages depend.
const runtimeVersion = "0.1.0"

// scaffolds returns the files of a new npm package, and warnings about an existing package.json. Scaffolds are written
// only once, since they belong to the user.
func scaffolds(pkg *schema.Package, existing fs.FS) ([]gen.File, []string, error) {
	files := []gen.File{
		{Path: "package.json", Content: packageJSON(pkg), Scaffold: true},
		{Path: "tsconfig.json", Content: []byte(tsconfigJSON), Scaffold: true},
	}
	content, err := fs.ReadFile(existing, "package.json")
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	var manifest struct {
		Type                           string
		Dependencies, PeerDependencies map[string]string
	}
	if err = json.Unmarshal(content, &manifest); err != nil {
		warnings = append(warnings, "package.json is not valid JSON: "+err.Error())
	} else if manifest.Type != "module" {
		warnings = append(warnings, `package.json lacks "type": "module"; without it, Node loads the generated ES `+
			`modules as CommonJS`)
	}
	for _, other := range pkg.Packages {
		if err == nil && manifest.PeerDependencies[other.NPM]+manifest.Dependencies[other.NPM] == "" {
			warnings = append(warnings, "package.json lacks the peer dependency "+peer(other.NPM, other.Versions)+
				", whose resources the IDL refers to")
		}
	}
	return files, warnings, nil
}

// peer returns an entry of peerDependencies.
func peer(name, versions string) string { return quote(name) + ": " + quote(versions) }

// peers returns all entries of peerDependencies, sorted.
func peers(pkg *schema.Package) string {
	all := []string{peer("@lumi/lumi", "^"+runtimeVersion)}
	for _, other := range pkg.Packages {
		all = append(all, peer(other.NPM, other.Versions))
	}
	slices.Sort(all)
	return strings.Join(all, ",\n        ")
}

// packageJSON returns the package.json of a new package. Its exports let programs import a single module by path, and a
// root file such as config.js by name, because Node loads everything that an index.js exports. The patterns also cover
// modules added later. If several patterns match, Node and TypeScript prefer the longest.
func packageJSON(pkg *schema.Package) []byte {
	return []byte(`{
    "name": ` + quote(schema.TSPackageName(pkg)) + `,
    "version": "0.1.0",
    "private": true,
    "type": "module",
    "exports": {
        ".": {
            "types": "./dist/index.d.ts",
            "default": "./dist/index.js"
        },
        "./*": {
            "types": "./dist/*/index.d.ts",
            "default": "./dist/*/index.js"
        },
        "./*.js": {
            "types": "./dist/*.d.ts",
            "default": "./dist/*.js"
        },
        "./package.json": "./package.json"
    },
    "sideEffects": false,
    "files": [
        "dist"
    ],
    "scripts": {
        "build": "tsc",
        "prepack": "tsc"
    },
    "peerDependencies": {
        ` + peers(pkg) + `
    },
    "devDependencies": {
        "typescript": ">=5.9"
    }
}
`)
}

const tsconfigJSON = `{
    "compilerOptions": {
        "target": "es2022",
        "module": "nodenext",
        "rootDir": ".",
        "outDir": "dist",
        "types": [],
        "declaration": true,
        "declarationMap": true,
        "sourceMap": true,
        "strict": true,
        "verbatimModuleSyntax": true,
        "isolatedModules": true,
        "exactOptionalPropertyTypes": true,
        "noUncheckedIndexedAccess": true,
        "skipLibCheck": true
    },
    "exclude": ["node_modules", "dist"]
}
`
