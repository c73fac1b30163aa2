package typescript_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

const features = "testdata/features"

// update is set by 'make golden'.
var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// strictest is the tsconfig.json for all checks, with every strict option set.
const strictest = `{
    "compilerOptions": {
        "target": "es2022",
        "module": "nodenext",
        "types": [],
        "rootDir": ".",
        "outDir": "out",
        "declaration": true,
        "stripInternal": true,
        "strict": true,
        "verbatimModuleSyntax": true,
        "isolatedModules": true,
        "isolatedDeclarations": true,
        "erasableSyntaxOnly": true,
        "exactOptionalPropertyTypes": true,
        "noUncheckedIndexedAccess": true,
        "noPropertyAccessFromIndexSignature": true,
        "noImplicitOverride": true,
        "noImplicitReturns": true,
        "noUnusedLocals": true,
        "noUnusedParameters": true
    }
}`

func load(t *testing.T, dir string) *schema.Package {
	t.Helper()
	pkg, diagnostics, err := compile.Load(context.Background(), compile.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diagnostics {
		t.Errorf("Load reported %s:%d: %s", d.Span.Start.File, d.Span.Start.Line, d.Message)
	}
	if pkg == nil {
		t.FailNow()
	}
	return pkg
}

func generate(t *testing.T, pkg *schema.Package) []gen.File {
	t.Helper()
	files, warnings, err := typescript.Generate(pkg, typescript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("Generate: warnings = %q, want none", warnings)
	}
	files = must.Get(gen.Rendered(files))(t)
	return files
}

func TestGolden(t *testing.T) {
	files := generate(t, load(t, filepath.Join(features, "idl")))
	pack := filepath.Join(features, "pack")
	if *update {
		must.Do(t, os.RemoveAll(pack))
		write(t, pack, files)
	}
	got, want := map[string]string{}, map[string]string{}
	for _, f := range files {
		got[f.Path] = string(f.Content)
	}
	must.Do(t, filepath.WalkDir(pack, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(pack, name)
		want[filepath.ToSlash(rel)] = string(content)
		return err
	}))
	expect.Equal(t, want, got, "generated files; run with -update to accept")
}

// TestToolchain checks the output with tsc and Node. tsc checks the packages, a program that uses every feature of one,
// and a program with an error on each line. Node then runs valid and invalid uses.
func TestToolchain(t *testing.T) {
	dir := newPackage(t)
	write(t, filepath.Join(dir, "pack"), sourcesOf(generate(t, load(t, filepath.Join(features, "idl")))))
	write(t, filepath.Join(dir, "aws"), sourcesOf(generate(t, load(t, "../../examples/aws/idl"))))
	for _, name := range []string{"right.ts", "wrong.ts"} {
		copyFile(t, filepath.Join(features, name), filepath.Join(dir, name))
	}
	write(t, dir, []gen.File{
		{Path: "tsconfig.json", Content: []byte(strictest)},
		{Path: "package.json", Content: []byte(`{"type": "module"}`)},
	})
	node.Compile(t, checkout(t), dir)

	// The IDL's documentation contains no unescaped tags, so --stripInternal removes nothing.
	types := must.Get(os.ReadFile(filepath.Join(dir, "out", "pack", "groups.d.ts")))(t)
	for _, want := range []string{
		"PortHTTP = 80", "PortTLS = 443", "PortOther = 8080", `NameA = "a"`, "interface Wheel", "size?: number", "mail?: string",
		"interface Axle", "type Part", "class Machine", "interface MachineArgs",
	} {
		if !strings.Contains(string(types), want) {
			t.Errorf("groups.d.ts does not contain %s:\n%s", want, types)
		}
	}

	check := filepath.Join("out", "check.test.mjs")
	copyFile(t, filepath.Join(features, "check.test.mjs"), filepath.Join(dir, check))
	node.Run(t, dir, "node", "--test", check)
	// The package loads no matter which file of an import cycle comes first.
	for _, first := range []string{"circle_a", "circle_b", "words", "words_user", "globals"} {
		node.Run(t, dir, "node", filepath.Join("out", "pack", first+".js"))
	}
}

// The package.json and tsconfig.json of a new package work with generated and hand-written code.
func TestScaffoldBuilds(t *testing.T) {
	dir := newPackage(t)
	write(t, dir, []gen.File{
		{Path: "net/wide.ts", Content: []byte(`import { Network } from "./index.js";
export const wide = (name: string): Network => new Network(name, { range: "0.0.0.0/0" });
`)},
		{Path: "my-mod/index.ts", Content: []byte("export { Thing as Renamed } from \"./thing.js\";\n")},
	})
	files, warnings, err := typescript.Generate(load(t, filepath.Join(features, "idl")), typescript.Options{
		Existing: os.DirFS(dir),
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Generate: warnings %q, error %v, want neither", warnings, err)
	}
	write(t, dir, files)
	node.Compile(t, checkout(t), dir)
	// A package can import itself by its name.
	node.Run(t, dir, "node", "--input-type=module", "-e", `
		import { Kinds, my_mod, net } from "features";
		import { Network } from "features/net";
		if (net.Network !== Network || Kinds.type !== "features:index:Kinds") throw new Error("wrong exports");
		if (!(net.wide("w") instanceof Network)) throw new Error("no hand-written function");
		if (Object.keys(my_mod).join() !== "Renamed") throw new Error("another index than the hand-written");
		import.meta.resolve("features/package.json"); // Throws unless exported.`)
}

// hooks makes Node print the files that it loads.
const hooks = `import { writeSync } from "node:fs";
export const load = (url, context, next) => (writeSync(1, url + "\n"), next(url, context));
`

// Importing a module provides its types with every module resolution mode, and loads no unrelated module.
func TestImportSingleModule(t *testing.T) {
	t.Parallel()
	dir := newPackage(t)
	pack := filepath.Join(dir, "node_modules", "@lumi", "aws")
	pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: "../../examples/aws/idl"})
	if err != nil || len(diags) > 0 {
		t.Fatalf("Load = %v, %v, want no error and no diagnostics", err, diags)
	}
	pkg.NPM = "@lumi/aws"
	write(t, pack, generate(t, pkg))
	node.Compile(t, checkout(t), pack)
	write(t, dir, []gen.File{
		{Path: "package.json", Content: []byte(`{"type": "module"}`)},
		{Path: "hooks.mjs", Content: []byte(hooks)},
		{Path: "register.mjs", Content: []byte(`import { register } from "node:module";
register("./hooks.mjs", import.meta.url);
`)},
		{Path: "main.ts", Content: []byte(`import { configure } from "@lumi/aws/config.js";
import { Region } from "@lumi/aws/region.js";
import { Bucket, type BucketArgs } from "@lumi/aws/s3";
// @ts-expect-error There is no such module.
import type {} from "@lumi/aws/nowhere";
export const make = (name: string, args: BucketArgs): Bucket => {
    configure({ region: Region.USWest2 });
    // @ts-expect-error A bucket has no such property.
    void new Bucket(name, { colour: 7 });
    return new Bucket(name, args);
};
`)},
	})
	for _, resolution := range []string{"node16", "nodenext", "bundler"} {
		module := strings.Replace(resolution, "bundler", "esnext", 1)
		node.Compile(t, checkout(t), dir, "--module", module, "--moduleResolution", resolution,
			"--target", "es2022", "--strict", "--types", "", "main.ts")
	}
	got := map[string]bool{}
	for url := range strings.Lines(node.Run(t, dir, "node", "--import", "./register.mjs", "main.js")) {
		if _, file, ok := strings.Cut(strings.TrimSpace(url), "/@lumi/aws/dist/"); ok {
			got[file] = true
		}
	}
	want := map[string]bool{
		"config.js": true, "region.js": true,
		"s3/index.js": true, "s3/bucket.js": true, "s3/bucket_policy.js": true, "s3/lifecycle.js": true, "s3/bucket_object.js": true,
		// A bucket policy needs this module.
		"iam/policy.js": true,
	}
	expect.Equal(t, want, got, "loaded files")
}

// checkout returns the root folder of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	return must.Get(filepath.Abs("../.."))(t)
}

// newPackage returns a new folder whose files can import @lumi/lumi.
func newPackage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	modules := filepath.Join(dir, "node_modules", "@lumi")
	must.Do(t, os.MkdirAll(modules, 0o755))
	must.Do(t, os.Symlink(node.Package(t, checkout(t)), filepath.Join(modules, "lumi")))
	return dir
}

// sourcesOf returns the files that are not scaffolds.
func sourcesOf(files []gen.File) []gen.File {
	var sources []gen.File
	for _, f := range files {
		if !f.Scaffold {
			sources = append(sources, f)
		}
	}
	return sources
}

func write(t *testing.T, dir string, files []gen.File) {
	t.Helper()
	files = must.Get(gen.Rendered(files))(t)
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, f.Content, 0o644))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content := must.Get(os.ReadFile(from))(t)
	write(t, filepath.Dir(to), []gen.File{{Path: filepath.Base(to), Content: content}})
}
