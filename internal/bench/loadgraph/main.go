// Command loadgraph loads a snapshot and does nothing with it, so that it can be seen what that costs a process: by
// lumigl, with all checks, or by encoding/json, into structs, which is the floor.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/lumi-idl/lumi/internal/bench/cluster"
	"github.com/lumi-idl/lumi/lumigl"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: loadgraph lumigl|json FILE")
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
		src, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		var s cluster.Typed
		if err := json.Unmarshal(src, &s); err != nil {
			return 0, err
		}
		defer runtime.KeepAlive(s)
		return len(s.Resources), nil
	}
	return 0, fmt.Errorf("there is no way %q to load a graph", how)
}
