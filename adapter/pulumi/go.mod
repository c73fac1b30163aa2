// The adapter to Pulumi. It is a separate module so that Lumi's users do not download Pulumi's SDK.
module github.com/lumi-idl/lumi/adapter/pulumi

go 1.26.0

require (
	github.com/lumi-idl/lumi v0.0.0
	github.com/pulumi/pulumi/sdk/v3 v3.259.0
	golang.org/x/mod v0.42.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261005182115-fad411399dd8 // indirect
)

replace github.com/lumi-idl/lumi => ../..
