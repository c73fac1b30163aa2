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

// A rule restricts the imports of packages. Patterns that start with ./ are relative to the root of this module. A pattern
// that ends in /... matches a package and all packages in its subfolders.
type rule struct {
	// of lists the packages that the rule applies to.
	of []string
	// but lists exceptions to of.
	but []string
	// only lists the packages of this module that may be imported directly. Nil allows all.
	only []string
	// never lists packages that must not be imported, directly or indirectly.
	never []string
	// direct lists packages that must not be imported directly. It is meant for standard library packages that every
	// package imports indirectly.
	direct []string
	// why completes the sentence "remove the import, because …".
	why string
}

// testIDL matches the IDL packages of the runtime's tests.
var testIDL = []string{"./test/testprovider/idl/..."}

// exampleIDL matches the IDL packages of the examples.
var exampleIDL = []string{"./examples/aws/idl/...", "./examples/local/idl/...", "./examples/peering/idl/..."}

// stubImports lists the packages of this module that the examples' stubs may import.
var stubImports = []string{"./examples/aws/provider/...", "./runtime", "./runtime/tokens", "./runtime/urn"}

var (
	grpc     = []string{"google.golang.org/grpc/..."}
	protobuf = slices.Concat(grpc, []string{"google.golang.org/protobuf/..."})
	// pure lists packages that must not be imported directly by code without side effects. Indirect imports are allowed,
	// since CEL imports protobuf.
	pure   = slices.Concat(protobuf, []string{"os", "os/...", "io", "io/...", "net/...", "time"})
	stores = slices.Concat(grpc, []string{"database/..."})
)

var rules = []rule{
	{
		of: []string{"./idl"}, only: []string{}, never: []string{"..."},
		why: "an IDL package is loaded from source, and every import adds to the load",
	},
	{
		of: []string{"./idl/schema"}, only: []string{"./internal/rule", "./internal/constraint"}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "the model must be readable without the Go type checker",
	},
	{
		of: []string{"./idl/diag"}, only: []string{"./internal/catalog", "./internal/term"}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "diagnostics describe any input, not only Go types",
	},
	{
		of: []string{"./idl/breaking"}, only: []string{"./idl/schema", "./idl/equality", "./internal/constraint", "./idl/diag", "./internal/catalog", "./internal/suggest"}, never: []string{"go/types", "golang.org/x/tools/go/packages"},
		why: "models are compared independently of their source",
	},
	{
		of: []string{"./adapter/..."}, only: []string{"./idl/schema", "./internal/suggest", "./runtime/..."},
		why: "adapters see providers through package serve and types through the schema",
	},
	{
		of: []string{"./gen"}, only: []string{"./internal/linediff"},
		why: "the writer handles files, not their contents",
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
		why:   "the compiler and the runtime share only the type model, which does not depend on the runtime",
	},
	{
		of:    []string{"./runtime/..."},
		never: []string{"./idl/...", "./gen/..."},
		why:   "compiled stubs must not link the compiler",
	},
	{
		of:    []string{"./lumigl/...", "./deploy/...", "./internal/cli/...", "./cmd/lumi"},
		never: []string{"./idl", "./idl/compile/...", "./idl/diag/...", "./gen/..."},
		why:   "the compiler and the runtime share only the type model, idl/schema",
	},
	{
		of: []string{"./internal/suggest", "./internal/constraint", "./internal/property", "./internal/rule"}, only: []string{}, never: grpc,
		why: "the compiler, the runtime, and every compiled stub link it",
	},
	{
		of: []string{"./lang/yaql"}, only: []string{"./internal/suggest"}, never: slices.Concat(protobuf, []string{"net/..."}), direct: []string{"os", "os/...", "reflect", "unsafe"},
		why: "YAQL is usable on its own and reads only its input",
	},
	{
		of: []string{"./lang/muranopl/catalog"}, only: []string{"./internal/yamltree", "./lang/muranopl", "./lang/yaql"}, never: protobuf,
		why: "classes are parsed without the runtime",
	},
	{
		of: []string{"./internal/yamltree"}, only: []string{}, never: protobuf,
		why: "YAML trees are shared by values and classes",
	},
	{
		of: []string{"./lang/muranopl"}, only: []string{"./internal/suggest", "./lang/yaql"}, never: slices.Concat(protobuf, []string{"net/..."}), direct: []string{"os", "os/..."},
		why: "MuranoPL is usable on its own and reaches only its objects",
	},
	{
		of: []string{"./lang/muranopl/desired"},
		only: []string{
			"./idl/equality", "./idl/schema", "./internal/constraint", "./internal/jsonpointer", "./internal/suggest", "./lang/muranopl", "./lang/yaql", "./lumigl", "./lumigl/expr", "./runtime/tokens",
			"./runtime/urn", "./runtime/wire",
		},
		never: slices.Concat(protobuf, []string{"./deploy/..."}), direct: []string{"os", "os/..."},
		why: "a model is evaluated to a graph, independently of deployment",
	},
	{
		of: []string{"./internal/dag"}, only: []string{},
		why: "dag is a leaf package",
	},
	{
		of: []string{"./internal/term"}, only: []string{}, never: grpc,
		why: "terminal output is shared by both commands and knows no domain",
	},
	{
		of: []string{"./internal/catalog"}, only: []string{"./internal/suggest"}, never: grpc,
		why: "both commands explain their codes with it and need no gRPC for that",
	},
	{
		of:    []string{"./lumigl/..."},
		but:   []string{"./lumigl/query"}, // imports CEL, which imports protobuf
		never: protobuf,
		why:   "graphs are read and changed without the provider protocol",
	},
	{
		of: []string{"./lumigl"}, only: []string{"./internal/dag", "./internal/jsonpointer", "./internal/suggest", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why: "the graph language is the base of everything above it",
	},
	{
		of: []string{"./lumigl/expr"}, only: []string{"./internal/jsonpointer", "./lumigl", "./runtime/wire"},
		why: "expressions are computed from values alone",
	},
	{
		of: []string{"./lumigl/match"}, only: []string{"./internal/dag", "./lumigl"},
		why: "resources are matched by their contents alone",
	},
	{
		of:   []string{"./lumigl/diff"},
		only: []string{"./internal/jsonpointer", "./internal/term", "./lumigl", "./lumigl/expr", "./lumigl/match", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why:  "documents are compared without files, commands, or deployments",
	},
	{
		of:     []string{"./deploy/graph"},
		only:   []string{"./internal/dag", "./internal/suggest", "./lumigl", "./lumigl/expr", "./lumigl/query", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		direct: pure, never: stores,
		why: "the resource graph is a value, independent of storage",
	},
	{
		of:     []string{"./deploy/queue"},
		only:   []string{"./deploy/graph", "./internal/dag"},
		direct: pure, never: stores,
		why: "the order of steps follows from graphs alone",
	},
	{
		of: []string{"./deploy/plan"},
		only: []string{
			"./deploy/graph", "./idl/equality", "./idl/schema", "./internal/constraint", "./internal/dag", "./internal/suggest", "./lumigl", "./lumigl/diff", "./lumigl/expr", "./lumigl/match",
			"./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		direct: pure, never: stores,
		why: "a plan depends only on graphs and provider responses",
	},
	{
		of:    []string{"./deploy/plan/show"},
		only:  []string{"./deploy/graph", "./deploy/plan", "./deploy/policy", "./deploy/queue", "./internal/term", "./lumigl", "./lumigl/diff", "./lumigl/expr", "./runtime/tokens", "./runtime/urn"},
		never: stores,
		why:   "showing a plan does not change or recompute it",
	},
	{
		of:    []string{"./deploy/secret"},
		only:  []string{"./internal/jsonpointer", "./lumigl", "./runtime/urn", "./runtime/wire"},
		never: stores,
		why:   "secrets are sealed in values, independently of storage",
	},
	{
		of:    []string{"./deploy/sealed"},
		only:  []string{"./deploy/secret", "./deploy/workspace", "./internal/atomicfile"},
		never: stores,
		why:   "the sealed file belongs to the workspace and is read without the store",
	},
	{
		of: []string{"./deploy/store", "./deploy/store/memory"}, only: []string{"./deploy/store"}, never: grpc,
		why: "a store keeps rows and does not interpret them",
	},
	{
		of:   []string{"./deploy/store/sqlite", "./deploy/store/postgres", "./deploy/store/relational"},
		only: []string{"./deploy/store", "./deploy/store/relational"}, never: grpc,
		why: "a store keeps rows and does not interpret them",
	},
	{
		of:    []string{"./deploy/state"},
		only:  []string{"./deploy/graph", "./deploy/plan", "./deploy/secret", "./deploy/store", "./lumigl", "./runtime/urn", "./runtime/wire"},
		never: stores,
		why:   "state converts between graphs and stored text, sealing secrets on the way",
	},
	{
		of: []string{"./deploy/provision"},
		only: []string{
			"./deploy/graph", "./deploy/plan", "./internal/property", "./lumigl", "./lumigl/expr", "./runtime", "./runtime/lumirpc", "./runtime/provisioner",
			"./runtime/serve/plugin", "./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		never: []string{"database/..."},
		why:   "provision calls providers and provisioners; its callers record the results",
	},
	{
		of: []string{"./deploy/job"}, only: []string{"./deploy/store"},
		why: "leases do not depend on what a job does",
	},
	{
		of:   []string{"./deploy/run/journal"},
		only: []string{"./deploy/graph", "./deploy/job", "./deploy/secret", "./deploy/state", "./deploy/store"},
		why:  "transactions do not depend on provider calls",
	},
	{
		of: []string{"./deploy/run/execute"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/policy", "./deploy/provision", "./deploy/run/journal", "./deploy/secret",
			"./deploy/store", "./internal/dag", "./lumigl", "./lumigl/expr", "./runtime", "./runtime/tokens", "./runtime/urn",
		},
		why: "an executor works on any store, and reaches clouds through provision only",
	},
	{
		of: []string{"./deploy/adopt"},
		only: []string{
			"./deploy/plan", "./idl/schema", "./internal/yamltree", "./lumigl", "./runtime", "./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		never: slices.Concat(stores, grpc),
		why:   "a program is written from what providers return, without state or files",
	},
	{
		of:    []string{"./deploy/refresh"},
		only:  []string{"./deploy/graph", "./deploy/plan", "./lumigl", "./runtime", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: slices.Concat(stores, grpc),
		why:   "resources are compared through the same interface as in plans",
	},
	{
		of: []string{"./deploy/policy"},
		only: []string{
			"./deploy/graph", "./deploy/plan", "./deploy/workspace", "./internal/suggest", "./internal/yamltree", "./lumigl", "./lumigl/expr",
			"./lumigl/query", "./runtime/urn", "./runtime/wire",
		},
		never: slices.Concat(stores, grpc),
		why:   "a policy judges plans and does not change them",
	},
	{
		of: []string{"./deploy/run"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/policy", "./deploy/provision", "./deploy/queue", "./deploy/refresh",
			"./deploy/run/execute", "./deploy/run/journal", "./deploy/secret", "./deploy/store", "./internal/dag", "./lumigl", "./runtime/tokens", "./runtime/urn",
		},
		why: "run decides what to deploy next, and package execute does it",
	},
	{
		of: []string{"./deploy/environment"},
		only: []string{
			"./deploy/graph", "./deploy/job", "./deploy/plan", "./deploy/queue", "./deploy/refresh", "./deploy/run", "./deploy/run/journal", "./deploy/secret",
			"./deploy/state", "./deploy/store", "./lumigl", "./runtime/urn",
		},
		why: "environments are shown and edited without calling providers",
	},
	{
		of: []string{"./deploy/view"}, only: []string{"./deploy/graph", "./deploy/store", "./internal/term", "./runtime/urn"},
		why: "a deployment is shown from its events alone",
	},
	{
		of: []string{"./deploy/workspace"}, only: []string{"./internal/suggest", "./internal/yamltree", "./runtime/tokens", "./runtime/wire"}, never: grpc,
		why: "a workspace is described by one file",
	},
	{
		of: []string{"./deploy/program"}, only: []string{"./deploy/secret", "./deploy/workspace", "./internal/suggest", "./lumigl", "./runtime/wire"}, never: stores,
		why: "a program evaluates to desired state, independently of deployment",
	},
	{
		of: []string{"./taskgraph/inventory"},
		only: []string{
			"./deploy/graph", "./lang/yaql", "./lumigl", "./lumigl/query", "./taskgraph", "./taskgraph/condition",
		},
		never: stores,
		why:   "nodes follow from a file and a snapshot, independently of storage",
	},
	{
		of: []string{"./taskgraph/schedule"}, only: []string{"./internal/dag", "./internal/suggest", "./taskgraph", "./taskgraph/inventory"},
		never: stores,
		why:   "a schedule follows from its input alone",
	},
	{
		of: []string{"./server", "./server/client", "./server/wire"}, only: []string{"./deploy/store", "./docs/schema", "./server/wire", "./taskgraph", "./taskgraph/service"},
		why: "the server and its clients depend on the service's interface only",
	},
	{
		of: []string{"./server/client"}, never: []string{"github.com/danielgtaylor/huma/..."},
		why: "the client must not link the server",
	},
	{
		of:   []string{"./taskgraph"},
		only: []string{"./internal/dag", "./internal/suggest", "./internal/yamltree", "./lang/yaql", "./taskgraph/condition"}, never: stores,
		why: "a task graph is text; packages below it know the nodes",
	},
	{
		of: []string{"./test/sim"}, only: []string{"./runtime", "./runtime/tokens", "./runtime/urn"}, never: stores,
		why: "the simulated cloud is a provider and does not know the engine",
	},
	{
		of: []string{"./..."}, but: []string{"./test/..."}, never: []string{"./test/..."},
		why: "test/ is for tests",
	},
	{
		of: []string{"./internal/..."}, but: []string{"./internal/cli/...", "./internal/fixture"}, only: []string{"./internal/..."},
		why: "packages in internal/ are leaves",
	},
	{
		of: []string{"./internal/fixture"}, only: []string{"./internal/jsonpointer", "./internal/suggest", "./lumigl", "./runtime/providertest", "./runtime/tokens", "./runtime/urn"},
		why: "fixtures are read without running them",
	},
	{
		of: []string{"./lumigl/query"}, only: []string{"./internal/dag", "./internal/suggest", "./lumigl"}, never: grpc,
		why: "queries read graphs alone",
	},
	{
		of: []string{"./lumigl/render"}, only: []string{"./internal/term", "./lumigl", "./lumigl/expr", "./lumigl/render/internal/layout", "./runtime/wire"},
		why: "drawings are made from graphs alone, and callers select the parts",
	},
	{
		of: []string{"./lumigl/render/internal/layout"}, only: []string{"./internal/dag"}, never: []string{"os", "net/..."},
		why: "a layout follows from numbers alone",
	},
	{
		of:   []string{"./lumigl/convert"},
		only: []string{"./internal/dag", "./internal/jsonpointer", "./lumigl", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		why:  "a conversion turns text into a snapshot without side effects",
	},
	{
		of: []string{"./lumigl/codes"}, only: []string{"./internal/catalog"}, never: grpc,
		why: "the catalog is plain text",
	},
	{
		of: []string{"./cmd/lumi"}, only: []string{"./internal/cli"},
		why: "main only calls package cli",
	},
	{
		of: []string{"./internal/cli/console"}, only: []string{"./internal/term"}, never: slices.Concat(grpc, []string{"./deploy/..."}),
		why: "the console is shared by all commands",
	},
	{
		of:   []string{"./internal/cli/workspace"},
		only: []string{"./deploy/...", "./internal/cli/console", "./internal/suggest", "./internal/term", "./lumigl", "./runtime/..."},
		why:  "sessions are shared by all commands",
	},
	{
		of: []string{"./internal/cli/document"},
		only: []string{
			"./idl/schema", "./internal/atomicfile", "./internal/cli/console", "./internal/cli/workspace", "./internal/term", "./lang/muranopl/...",
			"./lumigl/...", "./runtime/wire",
		},
		why: "all commands read and reject files in the same way",
	},
	{
		of:   []string{"./internal/cli/display"},
		only: []string{"./internal/cli/console", "./internal/cli/document", "./internal/term", "./lumigl/...", "./runtime/urn", "./runtime/wire"},
		why:  "all commands show graphs in the same way",
	},
	{
		of: []string{"./internal/cli/runs"},
		only: []string{
			"./deploy/...", "./internal/cli/console", "./internal/cli/workspace", "./internal/suggest", "./internal/term", "./lumigl", "./runtime/...",
		},
		why: "all commands follow runs in the same way",
	},
	{
		of: []string{
			"./internal/cli/deployments", "./internal/cli/state", "./internal/cli/tasks", "./internal/cli/files", "./internal/cli/providers",
			"./internal/cli/languages",
		},
		only: []string{
			"./deploy/...", "./internal/atomicfile", "./internal/cli/console", "./internal/cli/display", "./internal/cli/document", "./internal/cli/runs",
			"./internal/cli/workspace", "./internal/fixture", "./internal/jsonpointer", "./internal/linediff", "./internal/suggest", "./internal/term", "./internal/yamltree",
			"./lang/...", "./lumigl/...", "./runtime", "./runtime/providertest", "./runtime/serve/plugin", "./runtime/tokens", "./runtime/urn",
			"./runtime/wire", "./server/...", "./taskgraph/...",
		},
		why: "command groups share the packages below them and never import each other",
	},
	{
		of:     []string{"./..."},
		but:    []string{"./internal/cli/workspace", "./internal/cli/state", "./test/..."},
		direct: []string{"./deploy/store/sqlite", "./deploy/store/postgres", "./deploy/store/memory"},
		why:    "the command's session chooses the store, and other code works with any store",
	},
	{
		of:    []string{"./runtime"},
		only:  []string{"./internal/constraint", "./internal/property", "./internal/rule", "./internal/suggest", "./runtime/internal/readable", "./runtime/internal/signed", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: grpc,
		why:   "compiled stubs link the runtime and its leaf packages, not gRPC",
	},
	{
		of: []string{"./runtime/..."},
		but: []string{
			"./runtime/lumirpc", "./runtime/internal/bagrpc", "./runtime/internal/client", "./runtime/internal/provisioning", "./runtime/serve/...",
			"./runtime/providertest/...",
		},
		never: grpc,
		why:   "gRPC is only for plugins and for code that starts them",
	},
	{
		of: []string{"./runtime/lumirpc"}, only: []string{},
		why: "the protocol is generated from its definition alone",
	},
	{
		of: []string{"./runtime/provisioner"}, only: []string{"./runtime/tokens", "./runtime/urn", "./runtime/wire"}, never: protobuf,
		why: "provisioner code is testable without a plugin process",
	},
	{
		of:    []string{"./runtime/internal/provisioning"},
		only:  []string{"./internal/property", "./runtime", "./runtime/internal/signed", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./runtime/serve/..."},
		why:   "both sides of the protocol share the encoding of its messages",
	},
	{
		of:    []string{"./runtime/internal/client"},
		only:  []string{"./runtime", "./runtime/internal/bagrpc", "./runtime/lumirpc", "./runtime/tokens", "./runtime/urn"},
		never: []string{"./runtime/serve/..."},
		why:   "providers are called alike in a process of their own and in this one",
	},
	{
		of:    []string{"./runtime"},
		never: []string{"./runtime/content", "archive/...", "net/http"},
		why:   "every compiled stub would link code needed only to read content",
	},
	{
		of: []string{"./runtime/content"}, only: []string{"./internal/property", "./runtime", "./runtime/internal/readable", "./runtime/internal/signed", "./runtime/wire"}, never: grpc,
		why: "provider code reads content without a plugin process",
	},
	{
		of: []string{"./runtime/serve"},
		only: []string{
			"./runtime", "./runtime/content", "./runtime/internal/bagrpc", "./runtime/internal/client", "./runtime/internal/provisioning",
			"./runtime/internal/readable", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire",
		},
		never: []string{"./runtime/serve/plugin"},
		why:   "a provider's binary links the plugin's side of the protocol, not the engine's",
	},
	{
		of:    []string{"./runtime/serve/plugin"},
		only:  []string{"./runtime", "./runtime/internal/bagrpc", "./runtime/internal/client", "./runtime/internal/provisioning", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./runtime/serve"},
		why:   "an engine links the engine's side of the protocol, not the plugin's",
	},
	{
		of: []string{"./runtime/providertest"},
		only: []string{
			"./internal/linediff", "./internal/property", "./internal/suggest", "./runtime", "./runtime/internal/readable",
			"./runtime/lumirpc", "./runtime/provisioner", "./runtime/tokens", "./runtime/urn", "./runtime/wire", "./runtime/serve",
			"./runtime/serve/plugin",
		},
		why: "the test kit is an engine and a plugin in one process and needs nothing else",
	},
	{
		of:    []string{"./examples/provisioners/..."},
		never: []string{"./deploy/...", "./lumigl/...", "./idl/...", "./gen/...", "./runtime/serve/plugin"},
		why:   "a provisioner's binary links the plugin's side of the protocol, not the engine's",
	},
	{
		of: []string{"./..."}, but: []string{"./runtime/providertest", "./internal/cli", "./internal/cli/providers", "./internal/fixture", "./cmd/lumi", "./test/kit/..."}, never: []string{"./runtime/providertest"},
		why: "the test kit is for tests and for 'lumi provider test'",
	},
	{
		of: []string{"./runtime/internal/readable", "./runtime/internal/signed"}, only: []string{"./internal/property", "./runtime/internal/signed", "./runtime/wire"}, never: grpc,
		why: "every compiled stub links them",
	},
	{
		of: []string{"./runtime/wire"}, only: []string{}, never: protobuf,
		why: "graphs and providers share the markers of special values, independently of the encoding",
	},
	{
		of: []string{"./runtime/tokens"}, only: []string{}, never: protobuf,
		why: "tokens is a leaf package",
	},
	{
		of: []string{"./runtime/urn"}, only: []string{"./runtime/tokens"}, never: protobuf,
		why: "URNs depend only on type tokens",
	},
	{
		of:    []string{"./examples/aws/provider/...", "./examples/local/provider", "./examples/peering/provider"},
		but:   []string{"./examples/aws/provider/lumi-resource-aws"},
		only:  slices.Concat(stubImports, []string{"./runtime/content"}),
		never: slices.Concat([]string{"./idl/...", "./gen/..."}, grpc),
		why:   "code that authors write next to their stubs needs the runtime, not gRPC",
	},
	{
		of:    []string{"./examples/aws/provider/lumi-resource-aws", "./examples/local/provider/lumi-resource-local"},
		never: []string{"./idl/...", "./gen/...", "./runtime/serve/plugin"},
		why:   "a provider's binary links the plugin's side of the protocol, not the engine's",
	},
	{
		of:    []string{"./examples/provisioners/opentofu/lumi-provisioner-opentofu"},
		only:  []string{"./runtime", "./runtime/lumirpc", "./runtime/provisioner", "./runtime/serve", "./runtime/tokens", "./runtime/urn", "./runtime/wire"},
		never: []string{"./lumigl/...", "./deploy/...", "./runtime/serve/plugin"},
		why:   "a provisioner's binary links the plugin's side of the protocol, not the engine's",
	},
	{
		of:    []string{"./..."},
		but:   slices.Concat(testIDL, exampleIDL),
		never: slices.Concat(testIDL, exampleIDL),
		why:   "IDL packages are read by the compiler and never linked",
	},
	{
		of: []string{"./..."}, never: []string{"./cmd/..."},
		why: "commands are not importable APIs",
	},
}

// pkg is a package as printed by go list -json.
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
			t.Errorf("rule for %v matches no packages: correct the rule", r.of)
		}
	}
}

func (r *rule) check(t *testing.T, packages map[string]*pkg, path string) {
	if r.only != nil {
		for _, imported := range packages[path].Imports {
			if strings.HasPrefix(imported, module) && !matches(r.only, imported) {
				t.Errorf("%s imports %s: remove the import, because %s", path, imported, r.why)
			}
		}
	}
	for _, imported := range packages[path].Imports {
		if matches(r.direct, imported) {
			t.Errorf("%s imports %s: remove the import, because %s", path, imported, r.why)
		}
	}
	if chain := reach(packages, path, r.never); chain != nil {
		t.Errorf("%s reaches %s: remove the first unneeded import of\n\t%s\nbecause %s",
			path, chain[len(chain)-1], strings.Join(chain, "\n\timports "), r.why)
	}
}

// reach returns the shortest import chain from a package to a package that matches one of the patterns, or nil if there is
// none.
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
			t.Errorf("matches(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
}

func TestReach(t *testing.T) {
	packages := map[string]*pkg{
		"a": {Imports: []string{"b", "c"}}, "b": {Imports: []string{"a", "d"}}, "c": {Imports: []string{"C"}}, "d": {},
	}
	if chain := reach(packages, "a", []string{"d"}); !slices.Equal(chain, []string{"a", "b", "d"}) {
		t.Errorf("reach(a, d) = %v, want [a b d]", chain)
	}
	if chain := reach(packages, "c", []string{"d", "a"}); chain != nil {
		t.Errorf("reach(c, [d a]) = %v, want nil", chain)
	}
}

// The examples' stubs import only packages in stubImports. They import the runtime as lumi, since runtime is also a
// standard library package. A rule cannot express this, since a package also contains handwritten files.
func TestStubs(t *testing.T) {
	found := false
	for path, p := range list(t) {
		if !matches([]string{"./examples/aws/provider/...", "./examples/local/provider", "./examples/peering/provider"}, path) {
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
					t.Errorf("%s imports %s: stubs may import only the runtime and other stubs", filepath.Join(p.Dir, name), imported)
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
		t.Error("no stub imports the runtime")
	}
}

// folders lists the roots of the tested modules, relative to this package.
var folders = []string{"../..", "../../examples/aws/provider", "../../examples/peering"}

// list returns the packages of the tested modules and their dependencies, by import path, without test files.
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
			t.Fatalf("go list in %s: %v\n%s", folder, err, exit.Stderr)
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
