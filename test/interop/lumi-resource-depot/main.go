// Command lumi-resource-depot is a test plugin for clients in other languages.
package main

import (
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"

	"github.com/lumi-idl/lumi/test/interop/depot"
)

func main() {
	d := depot.NewDepot()
	serve.Main(serve.Plugin{
		Package:   "depot",
		Version:   "1.2.3",
		Configure: serve.Configure(d.Configure),
		Resources: map[tokens.Type]lumi.ResourceProvider{
			depot.Crate: depot.NewCrateProvider(depot.Crates{Depot: d}),
			depot.Shelf: depot.NewShelfProvider(depot.Shelves{Depot: d}),
		},
		Functions: map[tokens.Type]lumi.Function{depot.FindCrate: depot.FindCrateFunc(d.FindCrate).Function()},
	})
}
