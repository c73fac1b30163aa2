// Command terraform-provider-local serves the local example to OpenTofu and Terraform, for tests.
package main

import (
	"github.com/lumi-idl/lumi/adapter/opentofu/tfserve"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
)

func main() {
	tfserve.Main(serve.Plugin{Package: "local", Resources: local.Resources()}, lumischema.JSON, tfserve.Address("lumi/local"))
}
