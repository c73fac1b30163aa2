// Package yaql compiles and evaluates YAQL, OpenStack's query language. It follows the reference implementation,
// python3-yaql 2.0.
//
//	x, err := yaql.Compile("$.servers.where($.cpus > 2).select($.name)")
//	...
//	names, err := x.Evaluate(ctx, data)
//
// An expression can access only its data and the functions and variables of the [Context] it is evaluated in. Operators
// are functions too: a context without functions evaluates only literals. [Standard] contains the standard library.
// Hosts derive contexts from it with [New] and register their own functions, declared with [Func], [Method] and
// [Extension].
//
// # Overloads
//
// Several functions may share a name. The candidates are the functions of the nearest context that accept the
// arguments, and the one with the narrowest parameter types wins. Arguments for parameters of type lambda are not
// evaluated before the call; all overloads of a name must agree on which parameters these are.
//
// # Values
//
// Values are nil, bool, int64, [*big.Int] outside the range of int64, float64, string, [*List], [*Dict], [*Set],
// [*Iterator], [time.Time], [TimeSpan], [*Lambda], [*Context], and types of the host, which are compared by identity.
// [FromGo] and [FromJSON] return such values; variables and the results of the host's functions must be such values.
// They must not change once an expression can see them, except for iterators, which can be read once.
//
// # Untrusted expressions
//
// [Options] limit the number of items, the size of values and the depth of calls; evaluation stops when its
// context.Context is done. Lists, dictionaries and sets are immutable. Sequences are lazy: they are read once and only
// as far as needed. An [Expression] and a context that no longer changes are safe for concurrent use.
//
// # Errors
//
// All errors are of type [*Error] and have a [Kind] and a position, which [Error.Snippet] shows in the source.
package yaql
