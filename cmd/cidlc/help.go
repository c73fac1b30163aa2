package main

import (
	"fmt"
	"strings"
)

// help returns what --help prints.
func help() string {
	var lines strings.Builder
	for _, o := range outputs {
		value, help := "=FILE", o.help+"; - is standard output"
		if o.folder != "" {
			value, help = "[=DIR]", o.help+", to "+o.folder+"/ beside IDL-DIR unless DIR says where"
		}
		fmt.Fprintf(&lines, "  --%-18s  %s\n", o.flag+value, help)
	}
	return strings.Replace(manual, "OUTPUTS\n", lines.String(), 1)
}

// manual is enough for a user who has never seen an IDL. A test runs its example.
const manual = `cidlc compiles resource types, defined in a subset of Go, into a TypeScript package for the
programs that use the resources and into Go stubs for the provider that implements them.

Usage:
  cidlc [flags] IDL-DIR
  cidlc breaking --against=BASE [flags] IDL-DIR
  cidlc explain [CODE...]

Output:
OUTPUTS
  --check               write nothing: print what would change as a diff, and exit with 1 if anything would
Without any of these, the IDL is only checked.

The IDL:
  --package=NAME        the package's name; by default, the name of the folder that holds IDL-DIR
  --tokens=FORM         type tokens by 'module' (aws:ec2:VPC, the default) or by 'file' (aws:ec2/vpc:VPC)
  --marker=PATH         a further import path whose Resource and NamedResource are markers; may be repeated

Breaking changes:
  --against=BASE        report what breaks for users of another version of the IDL: a folder, a file that --out-schema
                        wrote, or git:REF, the folder as of a commit
  --allow=FILE          findings that are accepted, a line each: a code, a symbol and a reason

Messages:
  --diagnostics=FORM    'text' on standard error (the default); on standard output 'json', one object a line, or
                        'github', annotations that GitHub Actions shows in a pull request
  --color=WHEN          'auto' (the default: on a terminal, unless NO_COLOR is set), 'always' or 'never'
  -q, --quiet           no summary
  -v, --verbose         say what is written and removed, and how long each step takes
      --version         print the version
  -h, --help            print this

Exit codes: 0 nothing is wrong; 1 the IDL is wrong, --check found differences, or something breaks;
2 anything else.

Example:
  In a Go module, make the compiler a tool of the module:

    mkdir -p storage/idl && cd storage
    go mod init example.com/storage
    go get -tool github.com/lumi-idl/lumi/cmd/cidlc@latest

  Define a resource in a file of the IDL, idl/bucket.go:

    package storage

    import "github.com/lumi-idl/lumi/idl"

    //go:generate go tool cidlc . --out-pack --out-provider

    // A Bucket holds objects.
    type Bucket struct {
        idl.NamedResource
        // The region that the bucket is in. Moving it means a new bucket.
        Region string ` + "`lumi:\"replaces\"`" + `
        // Old versions of objects are kept.
        Versioned *bool ` + "`lumi:\"optional\"`" + `
        // Where the bucket is served, once it exists.
        URL *string ` + "`lumi:\"out\"`" + `
    }

  Compile it, now and after each change; the first time, add what the stubs require to go.mod:

    go generate ./...
    go mod tidy

  Programs then say new Bucket("logs", { region: "eu-north-1" }) with pack/bucket.ts, and the provider's author
  implements the interface BucketProviderOps of provider/bucket_stub.go. In CI, verify that both are current:

    go tool cidlc idl --out-pack --out-provider --check
`
