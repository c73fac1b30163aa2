package main

import (
	"fmt"
	"strings"
)

// help returns the output of --help.
func help() string {
	var lines strings.Builder
	for _, o := range outputs {
		value, help := "=FILE", o.help+" (- is standard output)"
		if o.folder != "" {
			value, help = "[=DIR]", o.help+" to DIR (default: "+o.folder+"/ next to IDL-DIR)"
		}
		fmt.Fprintf(&lines, "  --%-23s  %s\n", o.flag+value, help)
	}
	return strings.Replace(manual, "OUTPUTS\n", lines.String(), 1)
}

// manual is the text of --help. A test runs the example in it.
const manual = `cidlc compiles Go structs to a TypeScript package and Go provider stubs.

Usage:
  cidlc [flags] IDL-DIR
  cidlc breaking --against=BASE [flags] IDL-DIR
  cidlc explain [CODE...]

Output (without these flags, cidlc only checks the IDL):
OUTPUTS
  --check                    write nothing; print a diff and exit with 1 if files are out of date

IDL:
  --package=NAME             package name (default: as in //lumi:package=, or the directory that contains IDL-DIR)
  --tokens=FORM              type tokens by 'module' (aws:ec2:VPC, default) or 'file' (aws:ec2/vpc:VPC)
  --marker=PATH              import path of additional Resource and NamedResource markers; repeatable

Breaking changes:
  --against=BASE             IDL to compare with: a directory, a file written by --out-schema, or git:REF
  --allow=FILE               file of accepted findings, one per line: code, symbol, and reason
  --audience=LIST            exit with 1 only if a finding concerns one of 'programs', 'provider', 'wire', 'deployed'

Messages:
  --diagnostics=FORM         'text' (default), 'json', or 'github' (annotations for GitHub Actions)
  --color=WHEN               'auto' (default), 'always', or 'never'
  -q, --quiet                print no summary
  -v, --verbose              print files written and removed, and timings
  -h, --help                 print this help; --version prints the version

Exit codes: 0 success; 1 invalid IDL, stale files, or breaking changes; 2 usage or system error

Example:
    mkdir -p storage/idl && cd storage && go mod init example.com/storage
    go get -tool github.com/lumi-idl/lumi/cmd/cidlc@latest
  In idl/bucket.go:
    package storage
    import "github.com/lumi-idl/lumi/idl"
    // A Bucket stores objects.
    type Bucket struct {
        idl.NamedResource
        Region string ` + "`lumi:\"replaces\"`" + `
    }
  Compile it, and run it again after each change:
    go tool cidlc idl --out-pack --out-provider && go mod tidy
`
