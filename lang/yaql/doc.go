// Package yaql compiles and evaluates YAQL, OpenStack's query language. It follows the reference implementation,
// python3-yaql 2.0.
//
//	x, err := yaql.Compile("$.servers.where($.cpus > 2).select($.name)")
//	...
//	names, err := x.Evaluate(ctx, data)
//
// An expression can access only its data, and the functions and variables of its [Context]. Operators are functions
// too: a context without functions evaluates only literals. [Standard] contains the standard library. Hosts derive
// contexts from it with [New] and register their own functions, declared with [Func], [Method], and [Extension].
//
// # Overloads
//
// Several functions may share a name. The candidates are the functions that accept the arguments in the nearest context
// with such functions; the one with the narrowest parameter types wins. Arguments for parameters of type lambda are not
// evaluated before the call; all overloads of a name must agree on which parameters these are.
//
// # Values
//
// Values are nil, bool, int64, [*big.Int] outside the range of int64, float64, string, [*List], [*Dict], [*Set],
// [*Iterator], [time.Time], [TimeSpan], [*Lambda], [*Context], and types of the host, which are compared by identity.
// [FromGo] and [FromJSON] return these types; variables and the results of the host's functions must have them. They
// must not change once an expression can see them, except for iterators, which can be read once.
//
// # Untrusted expressions
//
// [Options] limits the number of items, the size of values, and the depth of calls; evaluation stops when its
// context.Context is done. Lists, dictionaries, and sets are immutable. Sequences are lazy: they are read once and only
// as far as needed. Expressions are safe for concurrent use, and so are contexts that no longer change.
//
// # Errors
//
// All errors are of type [*Error] and have a [Kind] and a position, which [Error.Snippet] shows in the source.
package yaql
