// Package yaql compiles and evaluates YAQL, OpenStack's query language. It follows the reference implementation,
// python3-yaql 2.0.
//
//	x, err := yaql.Compile("$.servers.where($.cpus > 2).select($.name)")
//	...
//	names, err := x.Evaluate(ctx, data)
//
// An expression can access only its data and the functions and variables of its [Context]. Operators are functions too:
// in a context without functions, only literals can be evaluated. [Standard] returns a context with the standard
// library. Hosts derive contexts from it with [New] and register their own functions, which are declared with [Func],
// [Method], and [Extension].
//
// # Overloads
//
// Several functions may share a name. The candidates are the functions that accept the arguments, in the nearest
// context that contains such functions. The candidate with the narrowest parameter types is called. Arguments for
// parameters of type lambda are passed unevaluated; all overloads of a function must agree on which parameters these
// are.
//
// # Values
//
// Values are nil, bool, int64, [*big.Int] for integers outside the range of int64, float64, string, [*List], [*Dict],
// [*Set], [*Iterator], [time.Time], [TimeSpan], [*Lambda], [*Context], and host types, which are compared by identity.
// [FromGo] and [FromJSON] return values of these types. Values of variables and results of the host's functions must
// have these types as well. Values must not change once an expression can access them, except for iterators, which can
// be read once.
//
// # Untrusted expressions
//
// [Options] limits the number of items, the size of values, and the depth of calls. Evaluation stops when its
// [context.Context] is done. Lists, dictionaries, and sets are immutable. Sequences are lazy: they are read once, and
// only as far as needed. Expressions are safe for concurrent use, and so are contexts that are no longer modified.
//
// # Errors
//
// All errors are of type [*Error] and have a [Kind] and a position. [Error.Snippet] shows the position in the source.
package yaql
