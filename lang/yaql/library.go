package yaql

// libraries are the parts of the standard library. Each is a list of functions in a file of its own, lib_*.go.
var libraries = []*[]*Function{
	&systemFunctions, &operatorFunctions, &collectionFunctions, &dictFunctions, &setFunctions, &queryFunctions,
	&generatorFunctions, &orderFunctions, &groupFunctions,
	&mathFunctions, &stringFunctions, &regexFunctions, &branchingFunctions, &timeFunctions,
}

// value makes a function of one that only computes its result and cannot fail.
func value(f func(*Call) any) func(*Call) (any, error) {
	return func(c *Call) (any, error) { return f(c), nil }
}
