// The provider of the AWS example: a module of its own, so that Lumi's users never download Amazon's SDK.
module github.com/lumi-idl/lumi/examples/aws/provider

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/lumi-idl/lumi v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/iancoleman/strcase v0.3.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/grpc v1.85.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/lumi-idl/lumi => ../../..
