package house

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

const module = "github.com/lumi-idl/lumi"

// A rule says what some packages may import. Packages of this module are written as ./path; a pattern that ends in /...
// stands for a package and all below it.
type rule struct {
	// of are the packages that the rule is for.
	of []string
	// but are those among them that the rule is not for.
	but []string
	// only are the packages of this module that they may import themselves. It is nil where any will do.
	only []string
	// never are packages that they must not reach, neither themselves nor through others.
	never []string
	// direct are packages that they must not import themselves: the standard library reaches some of them everywhere.
	direct []string
	// why ends the sentence "remove the import, since …".
	why string
}

// testIDL is what the stubs that the runtime is tested with are generated from.
var testIDL = []string{"./test/testprovider/idl/..."}

// exampleIDL is what the examples are generated from.
var exampleIDL = []string{"./examples/aws/idl/...", "./examples/local/idl/..."}

// stubImports are what the examples' stubs may import of ours.
var stubImports = []string{"./examples/aws/provider/...", "./runtime", "./runtime/tokens", "./runtime/urn"}

var (
	grpc     = []string{"google.golang.org/grpc/..."}
	protobuf = slices.Concat(grpc, []string{"google.golang.org/protobuf/..."})
	// pure packages do nothing but compute, and the engine's pure ones reach no store either. CEL brings protobuf.
	pure   = slices.Concat(protobuf, []string{"os", "os/...", "io", "io/...", "net/...", "time"})
	stores = slices.Concat(grpc, []string{"database/..."})
)

var rules = []rule{
	{
		of: []string{"./idl"}, only: []string{}, never: []string{"..."},
		why: "loading an IDL from sources must cost no more than its own text",
	},
	{
		of: []string{"./idl/schema"}, only: []string{}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "the model must be readable without the Go type checker",
	},
	{
		of: []string{"./idl/diag"}, only: []string{"./internal/catalog", "./internal/term"}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "diagnostics are about any input, not about Go's types",
	},
	{
		of: []string{"./idl/breaking"}, only: []string{"./idl/schema", "./idl/diag", "./internal/catalog", "./internal/suggest"}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "two models are compared, wherever they come from",
	},
	{
		of: []string{"./gen"}, only: []string{"./internal/linediff"},
		why: "the writer knows files, not what is in them",
	},
	{
		of: []string{"./gen/..."}, only: []string{"./gen/...", "./idl/schema", "./idl/diag", "./internal/linediff"},
		never: []string{"./idl/compile", "go/types", "golang.org/x/tools/go/packages"},
		why:   "generators read the checked model and nothing else",
	},
	{
		of: []string{"./..."}, but: []string{"./gen/gostubs", "./cmd/cidlc"}, never: []string{"github.com/dave/jennifer/..."},
		why: "Go code is generated in one place",
	},
	{
		of:    []string{"./idl/...", "./gen/...", "./cmd/cidlc"},
		never: slices.Concat([]string{"./runtime/...", "./lumigl/...", "./deploy/..."}, grpc),
		why:   "the compiler's wing and the runtime's share the model of types, and nothing of the runtime's is in it",
	},
	{
		of:    []string{"./runtime/..."},
		never: []string{"./idl/...", "./gen/..."},
		why:   "a compiled stub has nothing of the compiler",
	},
	{
		of:    []string{"./lumigl/...", "./deploy/...", "./internal/cli/...", "./cmd/lumi"},
		never: []string{"./idl", "./idl/compile/...", "./idl/diag/...", "./gen/..."},
		why:   "the compiler's wing and the runtime's share the model of types, idl/schema, and nothing else",
	},
	{
		of: []string{"./internal/suggest", "./internal/constraint"}, only: []string{}, never: grpc,
		why: "both wings and every compiled stub have it",
	},
	{
		of: []string{"./lang/yaql"}, only: []string{"./internal/suggest"}, never: slices.Concat(protobuf, []string{"net/..."}), direct: []string{"os", "os/...", "reflect", "unsafe"},
		why: "YAQL can be used alone, and reaches nothing outside of its data",
	},
	{
		of: []string{"./lang/muranopl/catalog"}, only: []string{"./internal/yamltree", "./lang/muranopl", "./lang/yaql"}, never: protobuf,
		why: "classes are read without what they are run for",
	},
	{
		of: []string{"./internal/yamltree"}, only: []string{}, never: protobuf,
		why: "YAML is read for values and for classes",
	},
	{
		of: []string{"./lang/muranopl"}, only: []string{"./internal/suggest", "./lang/yaql"}, never: slices.Concat(protobuf, []string{"net/..."}), direct: []string{"os", "os/..."},
		why: "MuranoPL can be used alone, and reaches nothing outside of its objects",
	},
	{
		of: []string{"./lang/muranopl/desired"},
		only: []string{
			"./idl/schema", "./internal/constraint", "./internal/jsonpointer", "./internal/suggest", "./lang/muranopl", "./lang/yaql", "./lumigl", "./lumigl/expr", "./runtime/tokens",
			"./runtime/urn", "./runtime/wire",
		},
		never: slices.Concat(protobuf, []string{"./deploy/..."}), direct: []string{"os", "os/..."},
		why: "a model is evaluated to a graph; what becomes of it is not its business",
	},
	{
		of: []string{"./internal/dag"}, only: []string{},
		why: "graphs of numbers are a leaf",
	},
	{
		of: []string{"./internal/term"}, only: []string{}, never: grpc,
		why: "what both commands print with has no subject of its own",
	},
	{
		of: []string{"./internal/catalog"}, only: []string{"./internal/suggest"}, never: grpc,
		why: "both commands explain their codes with it",
	},
	{
		of:    []string{"./lumigl/..."},
		but:   []string{"./lumigl/query"}, // CEL brings it.
		never: protobuf,
		why:   "a graph is read and changed without the protocol of providers",
	},
	{
		of: []string{"./lumigl"}, only: []string{"./internal/dag", "./internal/jsonpointer", "./internal/suggest", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why: "the graph language is what all others of this wing are built on",
	},
	{
		of: []string{"./lumigl/expr"}, only: []string{"./internal/jsonpointer", "./lumigl", "./runtime/wire"},
		why: "expressions are computed from values alone",
	},
	{
		of: []string{"./lumigl/match"}, only: []string{"./internal/dag", "./lumigl"},
		why: "resources are recognized by what is in them",
	},
	{
		of:   []string{"./lumigl/diff"},
		only: []string{"./internal/jsonpointer", "./internal/term", "./lumigl", "./lumigl/expr", "./lumigl/match", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why:  "two documents are compared without files, commands and deployments",
	},
	{
		of:     []string{"./deploy/graph"},
		only:   []string{"./internal/dag", "./internal/suggest", "./lumigl", "./lumigl/expr", "./lumigl/query", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		direct: pure, never: stores,
		why: "the resource graph is a value; who stores or changes it is not its business",
	},
	{
		of:     []string{"./deploy/queue"},
		only:   []string{"./deploy/graph", "./internal/dag"},
		direct: pure, never: stores,
		why: "who waits for whom follows from graphs and nothing else",
	},
	{
		of: []string{"./deploy/plan"},
		only: []string{
			"./deploy/graph", "./idl/schema", "./internal/dag", "./internal/suggest", "./lumigl", "./lumigl/diff", "./lumigl/expr", "./lumigl/match",
			"./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		direct: pure, never: stores,
		why: "a plan follows from graphs and what providers answer, and nothing else",
	},
	{
		of:    []string{"./deploy/plan/show"},
		only:  []string{"./deploy/graph", "./deploy/plan", "./deploy/queue", "./internal/term", "./lumigl", "./lumigl/diff", "./lumigl/expr", "./runtime/tokens", "./runtime/urn"},
		never: stores,
		why:   "a plan is shown as it is",
	},
	{
		of:    []string{"./deploy/secret"},
		only:  []string{"./internal/jsonpointer", "./lumigl", "./runtime/urn", "./runtime/wire"},
		never: stores,
		why:   "secrets are sealed in values; who stores them is not its business",
	},
	{
		of: []string{"./deploy/store", "./deploy/store/memory"}, only: []string{"./deploy/store"}, never: grpc,
		why: "a store keeps rows; what they mean is not its business",
	},
	{
		of: []string{"./deploy/store/sqlite"}, only: []string{"./deploy/store"}, never: grpc,
		why: "a store keeps rows; what they mean is not its business",
	},
	{
		of:    []string{"./deploy/state"},
		only:  []string{"./deploy/graph", "./deploy/plan", "./deploy/secret", "./deploy/store", "./lumigl", "./runtime/urn", "./runtime/wire"},
		never: stores,
		why:   "what is stored is text of graphs, and sealed on the way",
	},
	{
		of: []string{"./deploy/provision"},
		only: []string{
			"./deploy/graph", "./deploy/plan", "./lumigl", "./lumigl/expr", "./runtime", "./runtime/lumirpc", "./runtime/provisioner",
			"./runtime/serve/plugin", "./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		never: []string{"database/..."},
		why:   "providers and provisioners are called for whoever plans and runs; what comes of it is not recorded here",
	},
	{
		of: []string{"./deploy/job"}, only: []string{"./deploy/store"},
		why: "who may run a job, and for how long, does not depend on what it does",
	},
	{
		of:   []string{"./deploy/run/journal"},
		only: []string{"./deploy/graph", "./deploy/job", "./deploy/secret", "./deploy/state", "./deploy/store"},
		why:  "what is read and written together does not depend on who calls clouds",
	},
	{
		of: []string{"./deploy/run/execute"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/provision", "./deploy/run/journal", "./deploy/secret", "./deploy/store",
			"./internal/dag", "./lumigl", "./lumigl/expr", "./runtime", "./runtime/tokens", "./runtime/urn",
		},
		why: "an executor works on any store, and reaches clouds through provision only",
	},
	{
		of: []string{"./deploy/run"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/provision", "./deploy/queue", "./deploy/run/execute", "./deploy/run/journal",
			"./deploy/secret", "./deploy/store", "./internal/dag", "./lumigl", "./runtime/tokens", "./runtime/urn",
		},
		why: "what is deployed next is decided here, and carried out by package execute",
	},
	{
		of: []string{"./deploy/environment"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/queue", "./deploy/run", "./deploy/run/journal", "./deploy/secret",
			"./deploy/state", "./deploy/store", "./lumigl", "./runtime/urn",
		},
		why: "environments are shown and edited without calling providers",
	},
	{
		of: []string{"./deploy/view"}, only: []string{"./deploy/graph", "./deploy/store", "./internal/term", "./runtime/urn"},
		why: "what runs is shown by its events alone",
	},
	{
		of: []string{"./deploy/workspace"}, only: []string{"./internal/suggest", "./internal/yamltree", "./runtime/tokens"}, never: grpc,
		why: "a workspace is described by one file",
	},
	{
		of: []string{"./deploy/program"}, only: []string{"./deploy/secret", "./deploy/workspace", "./internal/suggest", "./lumigl"}, never: stores,
		why: "desired state is what a program evaluates to; what becomes of it is not its business",
	},
	{
		of: []string{"./taskgraph/inventory"},
		only: []string{
			"./deploy/graph", "./lang/yaql", "./lumigl", "./lumigl/query", "./taskgraph",
		},
		never: stores,
		why:   "nodes follow from a file and a snapshot, wherever these are kept",
	},
	{
		of: []string{"./taskgraph/schedule"}, only: []string{"./internal/dag", "./internal/suggest", "./taskgraph", "./taskgraph/inventory"},
		never: stores,
		why:   "a schedule follows from its input",
	},
	{
		of: []string{"./server", "./server/client", "./server/wire"}, only: []string{"./deploy/store", "./server/wire", "./taskgraph", "./taskgraph/service"},
		why: "a server and its clients know what a service does, not how",
	},
	{
		of: []string{"./server/client"}, never: []string{"github.com/danielgtaylor/huma/..."},
		why: "a client is built without a server",
	},
	{
		of: []string{"./taskgraph"}, only: []string{"./internal/dag", "./internal/suggest", "./internal/yamltree", "./lang/yaql"}, never: stores,
		why: "a graph of tasks is a text, and what it runs on is known to the packages below",
	},
	{
		of: []string{"./test/sim"}, only: []string{"./runtime", "./runtime/tokens", "./runtime/urn"}, never: stores,
		why: "a simulated cloud is a provider, and knows nothing of what drives it",
	},
	{
		of: []string{"./..."}, but: []string{"./test/..."}, never: []string{"./test/..."},
		why: "test/ is for tests",
	},
	{
		of: []string{"./internal/..."}, but: []string{"./internal/cli/..."}, only: []string{"./internal/..."},
		why: "internal/ holds leaves",
	},
	{
		of: []string{"./lumigl/query"}, only: []string{"./internal/dag", "./internal/suggest", "./lumigl"}, never: grpc,
		why: "a graph is asked about what is in it",
	},
	{
		of: []string{"./lumigl/render"}, only: []string{"./internal/term", "./lumigl", "./lumigl/expr", "./lumigl/render/internal/layout", "./runtime/wire"},
		why: "drawings are made of what is in a graph; who draws says what of it",
	},
	{
		of: []string{"./lumigl/render/internal/layout"}, only: []string{"./internal/dag"}, never: []string{"os", "net/..."},
		why: "places follow from numbers and nothing else",
	},
	{
		of:   []string{"./lumigl/convert"},
		only: []string{"./internal/dag", "./internal/jsonpointer", "./lumigl", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why:  "a conversion makes a snapshot of a text, and touches nothing",
	},
	{
		of: []string{"./lumigl/codes"}, only: []string{"./internal/catalog"}, never: grpc,
		why: "the catalog is nothing but text",
	},
	{
		of: []string{"./cmd/lumi"}, only: []string{"./internal/cli"},
		why: "a main function has no subject of its own",
	},
	{
		of: []string{"./internal/cli/console"}, only: []string{"./internal/term"}, never: slices.Concat(grpc, []string{"./deploy/..."}),
		why: "the console knows no command",
	},
	{
		of:   []string{"./internal/cli/workspace"},
		only: []string{"./deploy/...", "./internal/cli/console", "./internal/suggest", "./internal/term", "./lumigl", "./runtime/..."},
		why:  "a session knows no command",
	},
	{
		of: []string{"./internal/cli/document"},
		only: []string{
			"./idl/schema", "./internal/atomicfile", "./internal/cli/console", "./internal/cli/workspace", "./internal/term", "./lang/muranopl/...",
			"./lumigl/...", "./runtime/wire",
		},
		why: "files are read and refused in one way, whatever command reads them",
	},
	{
		of:   []string{"./internal/cli/display"},
		only: []string{"./internal/cli/console", "./internal/cli/document", "./internal/term", "./lumigl/...", "./runtime/urn", "./runtime/wire"},
		why:  "graphs are shown in one way, whatever command shows them",
	},
	{
		of: []string{"./internal/cli/runs"},
		only: []string{
			"./deploy/...", "./internal/cli/console", "./internal/cli/workspace", "./internal/suggest", "./internal/term", "./lumigl", "./runtime/...",
		},
		why: "runs are followed in one way, whatever command began them",
	},
	{
		of: []string{
			"./internal/cli/deployments", "./internal/cli/state", "./internal/cli/tasks", "./internal/cli/files", "./internal/cli/providers",
			"./internal/cli/languages",
		},
		only: []string{
			"./deploy/...", "./internal/atomicfile", "./internal/cli/console", "./internal/cli/display", "./internal/cli/document", "./internal/cli/runs",
			"./internal/cli/workspace", "./internal/jsonpointer", "./internal/linediff", "./internal/suggest", "./internal/term", "./internal/yamltree",
			"./lang/...", "./lumigl/...", "./runtime", "./runtime/providertest", "./runtime/serve/plugin", "./runtime/tokens", "./runtime/urn",
			"./runtime/wire", "./server/...", "./taskgraph/...",
		},
		why: "groups of commands share what is below them, and never use each other",
	},
	{
		of:     []string{"./..."},
		but:    []string{"./internal/cli/workspace", "./internal/cli/state", "./test/..."},
		direct: []string{"./deploy/store/sqlite", "./deploy/store/memory"},
		why:    "the command's session chooses the store, and all else works with any",
	},
	{
		of:    []string{"./runtime"},
		only:  []string{"./internal/constraint", "./internal/suggest", "./runtime/internal/readable", "./runtime/internal/signed", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: grpc,
		why:   "a compiled stub reaches the runtime and its leaves, and no gRPC",
	},
	{
		of: []string{"./runtime/..."},
		but: []string{
			"./runtime/lumirpc", "./runtime/internal/provisioning", "./runtime/serve/...", "./runtime/providertest/...",
		},
		never: grpc,
		why:   "gRPC is for those who start a provider's process, or are one",
	},
	{
		of: []string{"./runtime/lumirpc"}, only: []string{},
		why: "the protocol is what is generated from its definition",
	},
	{
		of: []string{"./runtime/provisioner"}, only: []string{"./runtime/tokens", "./runtime/urn", "./runtime/wire"}, never: protobuf,
		why: "a provisioner's code is about graphs and tools, and tested without a process around it",
	},
	{
		of:    []string{"./runtime/internal/provisioning"},
		only:  []string{"./runtime", "./runtime/internal/signed", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./runtime/serve/..."},
		why:   "both sides of the protocol share how its messages are read and written",
	},
	{
		of:    []string{"./runtime"},
		never: []string{"./runtime/content", "archive/...", "net/http"},
		why:   "every compiled stub would carry what only those need who read content",
	},
	{
		of: []string{"./runtime/content"}, only: []string{"./runtime", "./runtime/internal/readable", "./runtime/internal/signed", "./runtime/wire"}, never: grpc,
		why: "a provider's code reads content without a process around it",
	},
	{
		of: []string{"./runtime/serve"},
		only: []string{
			"./runtime", "./runtime/content", "./runtime/internal/provisioning", "./runtime/internal/readable", "./runtime/lumirpc",
			"./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		never: []string{"./runtime/serve/plugin"},
		why:   "a provider's binary has the plugin's side of the protocol and not the engine's",
	},
	{
		of:    []string{"./runtime/serve/plugin"},
		only:  []string{"./runtime", "./runtime/internal/provisioning", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./runtime/serve"},
		why:   "an engine has the engine's side of the protocol and not the plugin's",
	},
	{
		of: []string{"./runtime/providertest"},
		only: []string{
			"./internal/linediff", "./internal/suggest", "./runtime", "./runtime/internal/readable", "./runtime/internal/signed",
			"./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire", "./runtime/serve",
			"./runtime/serve/plugin",
		},
		why: "the test kit is an engine and a plugin in one process, and nothing else",
	},
	{
		of:    []string{"./examples/provisioners/..."},
		never: []string{"./deploy/...", "./lumigl/...", "./idl/...", "./gen/...", "./runtime/serve/plugin"},
		why:   "a provisioner's binary has the plugin's side of the protocol and not the engine's",
	},
	{
		of: []string{"./..."}, but: []string{"./runtime/providertest", "./internal/cli", "./internal/cli/providers", "./cmd/lumi", "./test/kit/..."}, never: []string{"./runtime/providertest"},
		why: "the test kit is for tests, and for 'lumi provider test', which runs them",
	},
	{
		of: []string{"./runtime/internal/readable", "./runtime/internal/signed"}, only: []string{"./runtime/internal/signed", "./runtime/wire"}, never: grpc,
		why: "every compiled stub has them",
	},
	{
		of: []string{"./runtime/wire"}, only: []string{}, never: protobuf,
		why: "graphs and providers share what marks special values, whatever carries them",
	},
	{
		of: []string{"./runtime/tokens"}, only: []string{}, never: protobuf,
		why: "type tokens are a leaf",
	},
	{
		of: []string{"./runtime/urn"}, only: []string{"./runtime/tokens"}, never: protobuf,
		why: "URNs are a leaf but for the tokens in them",
	},
	{
		of:    []string{"./examples/aws/provider/...", "./examples/local/provider"},
		but:   []string{"./examples/aws/provider/lumi-resource-aws"},
		only:  slices.Concat(stubImports, []string{"./runtime/content"}),
		never: slices.Concat([]string{"./idl/...", "./gen/..."}, grpc),
		why:   "what authors write beside their stubs needs the runtime, and no gRPC",
	},
	{
		of:    []string{"./examples/aws/provider/lumi-resource-aws", "./examples/local/provider/lumi-resource-local"},
		never: []string{"./idl/...", "./gen/...", "./runtime/serve/plugin"},
		why:   "a provider's binary has the plugin's side of the protocol and not the engine's",
	},
	{
		of:    []string{"./examples/provisioners/opentofu/lumi-provisioner-opentofu"},
		only:  []string{"./runtime", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/serve", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./lumigl/...", "./deploy/...", "./runtime/serve/plugin"},
		why:   "a provisioner's binary has the plugin's side of the protocol and not the engine's",
	},
	{
		of:    []string{"./..."},
		but:   slices.Concat(testIDL, exampleIDL),
		never: slices.Concat(testIDL, exampleIDL),
		why:   "an IDL is read by the compiler and compiled into nothing else",
	},
	{
		of: []string{"./..."}, never: []string{"./cmd/..."},
		why: "commands are for people, not for packages",
	},
}

// pkg is what the go command says about a package.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Standard   bool
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, r := range rules {
		used := false
		for _, path := range sorted(packages) {
			if matches(r.of, path) && !matches(r.but, path) {
				used = true
				r.check(t, packages, path)
			}
		}
		if !used {
			t.Errorf("there is a rule for %v, and no such package: correct the rule", r.of)
		}
	}
}

func (r *rule) check(t *testing.T, packages map[string]*pkg, path string) {
	if r.only != nil {
		for _, imported := range packages[path].Imports {
			if strings.HasPrefix(imported, module) && !matches(r.only, imported) {
				t.Errorf("%s imports %s: remove the import, since %s", path, imported, r.why)
			}
		}
	}
	for _, imported := range packages[path].Imports {
		if matches(r.direct, imported) {
			t.Errorf("%s imports %s: remove the import, since %s", path, imported, r.why)
		}
	}
	if chain := reach(packages, path, r.never); chain != nil {
		t.Errorf("%s reaches %s: remove the first import of\n\t%s\nthat is not needed, since %s",
			path, chain[len(chain)-1], strings.Join(chain, "\n\timports "), r.why)
	}
}

// reach returns the shortest chain of imports from a package to one that a pattern matches, or nil.
func reach(packages map[string]*pkg, from string, patterns []string) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, imported := range packages[queue[0]].Imports {
			if _, seen := cameFrom[imported]; seen || packages[imported] == nil {
				continue
			}
			cameFrom[imported] = queue[0]
			if matches(patterns, imported) {
				var chain []string
				for p := imported; p != ""; p = cameFrom[p] {
					chain = append(chain, p)
				}
				slices.Reverse(chain)
				return chain
			}
			queue = append(queue, imported)
		}
	}
	return nil
}

func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if own, ok := strings.CutPrefix(pattern, "./"); ok {
			pattern = module + "/" + own
		}
		if pattern == "..." {
			return true
		}
		prefix, tree := strings.CutSuffix(pattern, "/...")
		return path == prefix || tree && strings.HasPrefix(path, prefix+"/")
	})
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"./idl", module + "/idl", true},
		{"./idl", module + "/idl/schema", false},
		{"./idl/...", module + "/idl", true},
		{"./idl/...", module + "/idl/schema", true},
		{"./idl/...", module + "/idlx", false},
		{"./...", module + "/idl", true},
		{"go/types", "go/types", true},
		{"go/types", module + "/go/types", false},
		{"...", "unsafe", true},
	} {
		if got := matches([]string{test.pattern}, test.path); got != test.want {
			t.Errorf("%q matches %q: %v", test.pattern, test.path, got)
		}
	}
}

func TestReach(t *testing.T) {
	packages := map[string]*pkg{
		"a": {Imports: []string{"b", "c"}}, "b": {Imports: []string{"a", "d"}}, "c": {Imports: []string{"C"}}, "d": {},
	}
	if chain := reach(packages, "a", []string{"d"}); !slices.Equal(chain, []string{"a", "b", "d"}) {
		t.Errorf("the chain from a to d is %v", chain)
	}
	if chain := reach(packages, "c", []string{"d", "a"}); chain != nil {
		t.Errorf("there is a chain from c: %v", chain)
	}
}

// TestStubs holds that the examples' stubs import nothing but what stubs may, and the runtime as lumi, since the standard
// library owns its name. Of packages with files of authors beside the stubs, the rules above cannot tell which of them
// imports something.
func TestStubs(t *testing.T) {
	found := false
	for path, p := range list(t) {
		if !matches([]string{"./examples/aws/provider/...", "./examples/local/provider"}, path) {
			continue
		}
		for _, name := range p.GoFiles {
			if !strings.HasSuffix(name, "_stub.go") {
				continue
			}
			file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly))(t)
			for _, spec := range file.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if imported != "context" && !matches(stubImports, imported) {
					t.Errorf("%s imports %s: a stub imports the runtime and other stubs", filepath.Join(p.Dir, name), imported)
				}
				if imported != module+"/runtime" {
					continue
				}
				found = true
				if spec.Name == nil || spec.Name.Name != "lumi" {
					t.Errorf("%s imports the runtime under its own name: write lumi %s",
						filepath.Join(p.Dir, name), spec.Path.Value)
				}
			}
		}
	}
	if !found {
		t.Error("no stub of the example imports the runtime")
	}
}

// folders are those of the modules that the rules are about, from here.
var folders = []string{"../..", "../../examples/aws/provider"}

// list returns all packages of the modules and what they import, without tests.
func list(t *testing.T) map[string]*pkg {
	t.Helper()
	packages := make(map[string]*pkg)
	for _, folder := range folders {
		listModule(t, folder, packages)
	}
	return packages
}

func listModule(t *testing.T, folder string, packages map[string]*pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Standard", "./...")
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = &p
	}
}

func sorted(packages map[string]*pkg) []string {
	var paths []string
	for path, p := range packages {
		if !p.Standard {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
