// Package yaql compiles and evaluates YAQL, the query language of OpenStack. It follows python3-yaql 2.0, the reference.
//
//	x, err := yaql.Compile("$.servers.where($.cpus > 2).select($.name)")
//	...
//	names, err := x.Evaluate(ctx, data)
//
// An expression can reach nothing but the data, and the functions and variables of the [Context] that it is evaluated
// in. Operators are functions too: a context without any evaluates literals only. [Standard] has the standard library;
// hosts derive contexts from it with [New] and register functions of their own, declared with [Func], [Method] and
// [Extension].
//
// # Overloads
//
// A name may have several functions, whose parameters have types. Those of the nearest context that accept the arguments
// are candidates; one wins if its types are narrower. Arguments for parameters of type lambda are not evaluated before
// the call, and all overloads of a name must agree on which these are.
//
// # Values
//
// Values are nil, bool, int64, [*big.Int] outside the range of int64, float64, string, [*List], [*Dict], [*Set],
// [*Iterator], [time.Time], [TimeSpan], [*Lambda], [*Context], and the host's own, which are compared by identity.
// [FromGo] and [FromJSON] return them; variables, and the results of the host's functions, must be such. They must not
// change once an expression can see them, except iterators, which are read once.
//
// # Untrusted expressions
//
// [Options] limit the items of an iteration, the size of values and the depth of calls; evaluation stops when its
// context.Context is done. Lists, dictionaries and sets are immutable, sequences lazy: they are read as far as needed,
// once. An [Expression] and a context that is not changed any more may be used by many goroutines.
//
// # Errors
//
// All errors are of type [*Error] and have a [Kind] and a position. [Error.Snippet] shows it.
package yaql
