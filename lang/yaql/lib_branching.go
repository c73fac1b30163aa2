package yaql

import "cmp"

var branchingFunctions = []*Function{
	Func("switch", "*args rule", switchRules).WithoutKeywords().
		Document("Returns the value of the first true condition, or null.",
			`switch(1 > 2 => a, 2 > 1 => b, true => c)`, `"b"`, `switch(false => 1 / 0)`, `null`),
	Func("selectCase", "*args lambda", func(c *Call) (any, error) {
		v, ok, err := chosen(c).Next()
		if !ok && err == nil {
			return int64(len(c.Rest())), nil
		}
		return v, err
	}).Document("Returns the index of the first argument that is true, or the number of arguments.",
		`selectCase(1 > 2, 2 > 1, 1 / 0)`, `1`, `selectCase(false)`, `1`),
	Func("selectAllCases", "*args lambda", func(c *Call) (any, error) { return chosen(c), nil }).
		Document("Returns the indexes of the arguments that are true.", `selectAllCases(true, false, true)`, `[0, 2]`),
	Func("examine", "*args lambda", examine).
		Document("Returns, for each argument, whether it is true. Arguments are evaluated lazily.",
			`examine(1, [], a)`, `[true, false, true]`),
	Method("switchCase", "case int, *args lambda", switchCase).
		Document("Returns the argument at the index, or the last argument if the index is out of range.",
			`1.switchCase(a, b, c)`, `"b"`, `7.switchCase(a, b)`, `"b"`, `0.switchCase()`, `null`),
	Func("coalesce", "*args lambda", coalesce).
		Document("Returns the first argument that is not null, or null. Later arguments are not evaluated.",
			`coalesce(null, 2, 1 / 0)`, `2`, `coalesce()`, `null`),
}

func switchRules(c *Call) (any, error) {
	for _, a := range c.Rest() {
		rule := a.(*Rule)
		if ok, err := rule.Key.Test(); err != nil {
			return nil, err
		} else if ok {
			return rule.Value.Call()
		}
	}
	return nil, nil
}

// chosen returns an iterator over the indices of the arguments that evaluate to true.
func chosen(c *Call) *Iterator {
	i := int64(-1)
	return c.sift(iterateSlice(c.Rest()), func(f any) (any, bool, error) {
		i++
		ok, err := lambdaOf(f).Test()
		return i, ok, err
	})
}

func examine(c *Call) (any, error) {
	return c.sift(iterateSlice(c.Rest()), func(f any) (any, bool, error) {
		ok, err := lambdaOf(f).Test()
		return ok, true, err
	}), nil
}

func switchCase(c *Call) (any, error) {
	n := len(c.Rest())
	if n == 0 {
		return nil, nil
	}
	i := c.clamped(0)
	if i < 0 || i >= n {
		i = n - 1
	}
	return lambdaOf(c.Rest()[i]).Call()
}

func coalesce(c *Call) (any, error) {
	for _, f := range c.Rest() {
		if v, err := lambdaOf(f).Call(); v != nil || err != nil {
			return v, cmp.Or(err, opaque(v))
		}
	}
	return nil, nil
}

// lambdaOf returns v, which must be a lambda, or nil if v is null.
func lambdaOf(v any) *Lambda {
	l, _ := v.(*Lambda)
	return l
}
