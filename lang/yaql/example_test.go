package yaql_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Compile an expression once and evaluate it for any data. Evaluations may be concurrent.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	data, err := yaql.FromJSON([]byte(`[{"name": "web", "cpus": 4}, {"name": "cache", "cpus": 2}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	big, err := yaql.Compile("$.where($.cpus > 2).select($.name)")
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := big.Evaluate(ctx, data)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := yaql.AppendJSON(nil, names)
	fmt.Println(string(text))
	// Output: ["web"]
}

// Hosts can add their own functions and variables.
func ExampleContext_Register() {
	in := yaql.New(yaql.Standard(false))
	in.Register(yaql.Extension("shout", "text string, marks int=1", func(c *yaql.Call) (any, error) {
		n, err := c.Int(1)
		if err != nil || n > 3 {
			return nil, yaql.Errorf(yaql.Value, "too loud")
		}
		return c.Invoke("#operator_+", c.Arg(0), "!!!"[:max(n, 0)])
	}))
	in.Set("name", "web")
	for _, source := range []string{"$name.shout()", "shout($name, marks => 2)", "\n  $name.shout(4)"} {
		x, err := yaql.Compile(source)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := x.EvaluateIn(context.Background(), in)
		var wrong *yaql.Error
		if errors.As(err, &wrong) {
			fmt.Printf("%s: %s\n%s\n", wrong.Kind, wrong, wrong.Snippet())
			continue
		}
		fmt.Println(v)
	}
	// Output:
	// web!
	// web!!
	// value: 2:9: too loud
	//   $name.shout(4)
	//         ^
}
