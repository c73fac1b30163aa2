// Command loadgraph loads a file and exits, so that benchmarks can measure the entire process. It loads a snapshot with
// lumigl and full validation or, as a lower bound, decodes a file of any supported format into structs with
// encoding/json.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/bench/cluster"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: loadgraph lumigl|json|pulumi|opentofu FILE")
		os.Exit(2)
	}
	resources, err := load(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resources)
}

func load(how, name string) (resources int, err error) {
	switch how {
	case "lumigl":
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		doc, err := lumigl.Read(f)
		if err != nil {
			return 0, err
		}
		defer runtime.KeepAlive(doc)
		return doc.Base().Len(), nil
	case "json":
		var s cluster.Typed
		err := decode(name, &s)
		return len(s.Resources), err
	case "pulumi":
		var s cluster.TypedPulumi
		err := decode(name, &s)
		return len(s.Deployment.Resources), err
	case "opentofu":
		var s cluster.TypedOpenTofu
		err := decode(name, &s)
		return len(s.Resources), err
	}
	return 0, fmt.Errorf("unknown loader %q", how)
}

func decode(name string, into any) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(src, into)
}
