package main

// help is what --help prints. It is all that somebody needs who has never seen an IDL.
const help = `cidlc compiles resource types, defined in a subset of Go, into a TypeScript package for the
programs that use the resources and into Go stubs for the provider that implements them.

Usage:
  cidlc [flags] IDL-DIR
  cidlc explain [CODE...]

Output:
  --out-pack[=DIR]      write the TypeScript package, to pack/ beside IDL-DIR unless DIR says where
  --out-provider[=DIR]  write the Go provider stubs, to provider/ beside IDL-DIR unless DIR says where
  --out-schema=FILE     write the checked model as JSON, for other generators; - is standard output
  --check               write nothing: print what would change as a diff, and exit with 1 if anything would
Without any of these, the IDL is only checked.

The IDL:
  --package=NAME        the package's name; by default, the name of the folder that holds IDL-DIR
  --tokens=FORM         type tokens by 'module' (aws:ec2:VPC, the default) or by 'file' (aws:ec2/vpc:VPC)
  --marker=PATH         a further import path whose Resource and NamedResource are markers; may be repeated

Messages:
  --diagnostics=FORM    'text' on standard error (the default) or 'json' on standard output, one object a line
  --color=WHEN          'auto' (the default: on a terminal, unless NO_COLOR is set), 'always' or 'never'
  -q, --quiet           no summary
  -v, --verbose         say what is written and removed, and how long each step takes
      --version         print the version
  -h, --help            print this

Exit codes: 0 nothing is wrong; 1 the IDL is wrong, or --check found differences; 2 anything else.

Example:
  A file bucket/idl/bucket.go defines a resource:

    package bucket

    import "github.com/lumi-idl/lumi/idl"

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

  In the folder of a Go module that requires github.com/lumi-idl/lumi, compile it:

    cidlc bucket/idl --out-pack --out-provider

  Programs then say new Bucket("logs", { region: "eu-north-1" }) with bucket/pack/bucket.ts, and the provider's author
  implements the interface BucketProviderOps of bucket/provider/bucket_stub.go. To keep both current, put

    //go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --out-pack --out-provider

  into a file of the IDL, run 'go generate ./...' after each change, and in CI

    cidlc bucket/idl --out-pack --out-provider --check
`
