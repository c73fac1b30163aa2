package muranopl_test

import (
	"context"
	"fmt"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
)

func Example() {
	classes := muranopl.Declarations{"shop.Site": {
		Name: "shop.Site",
		Tree: muranopl.Tree(map[string]any{
			"Properties": map[string]any{"name": map[string]any{"Contract": muranopl.Expression("$.string().notNull()")}},
			"Methods":    map[string]any{"greet": map[string]any{"Body": []any{map[string]any{"Return": muranopl.Expression("'Hello ' + $.name")}}}},
		}),
	}}
	in := muranopl.New(classes, muranopl.Options{})
	model, err := catalog.Model("env.json", []byte(`{"?": {"type": "shop.Site"}, "name": "flowers"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	site, err := in.Load(context.Background(), model)
	if err != nil {
		fmt.Println(err)
		return
	}
	greeting, err := in.Call(context.Background(), site, "greet")
	fmt.Println(greeting, err)
	// Output: Hello flowers <nil>
}
