package yaql

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dlclark/regexp2/v2"
)

// These types are in one file because they refer to each other. Their methods are in other files.

// Typed may be implemented by host values. Their Go types must be comparable; use pointers, for example.
type Typed interface {
	// YAQLType returns the name of the value's type for use in messages.
	YAQLType() string
}

// Receiver may be implemented by host values that have properties and methods.
type Receiver interface {
	// YAQLProperty returns the value of a property when accessed in the given context.
	YAQLProperty(name string, in *Context) (any, error)
	// YAQLMethod returns the named method, which takes precedence over methods of contexts, or nil.
	YAQLMethod(name string) *Function
}

// Opaque may be implemented by host values that expressions cannot inspect. Opaque values can be assigned to variables
// and stored in lists and dictionaries. Otherwise, only functions with parameters of host types accept them.
type Opaque interface {
	// YAQLOpaque returns the error to report when an expression tries to use the value.
	YAQLOpaque() error
}

// Text may be implemented by opaque values that can be concatenated with strings.
type Text interface {
	Opaque
	// YAQLText returns an opaque value for the concatenation of parts, which are strings and opaque values.
	YAQLText(parts []any) (any, error)
}

// Iterable may be implemented by host values that can be iterated over repeatedly.
type Iterable interface {
	Iterate() *Iterator
}

// TimeSpan is a duration in microseconds.
type TimeSpan int64

// List corresponds to a tuple or a list in the reference. Tuples are hashable; lists are not. A tuple never equals a
// list.
type List struct {
	items []any
	measure
	mutable bool
	key     atomic.Pointer[string] // cached result of keyText
}

type entry struct{ key, value any }

// Dict is a dictionary with entries in insertion order. Equal keys, such as 1, 1.0, and true, are the same key.
type Dict struct {
	entries []entry
	index   map[any]int // indices by hashKey; nil while the dictionary is small
	measure
	mutable bool
	key     atomic.Pointer[string]
}

// smallDict is the maximum number of entries for which a linear search is used, which is then as fast as a map.
const smallDict = 8

// Set is a set with items in insertion order.
type Set struct {
	items []any
	index map[any]int
	measure
	// of is the dictionary if the set is a view of its keys or, if pairs is set, of its entries. Views are unhashable
	// and have no index.
	of    *Dict
	pairs bool
	key   atomic.Pointer[string]
}

// Iterator is a lazy sequence that can be read only once.
type Iterator struct {
	next func() (any, bool, error)
	// again restarts an iterator that caches its items. It is nil for other iterators.
	again   func() *Iterator
	done    bool
	measure          // of the values it keeps alive
	scope   *Context // context whose variables are included in measure
}

// measure holds the size of a collection and the nesting depth of its values. The depth is limited because reading a
// nested iterator recurses.
type measure struct {
	size   int64
	depth  int32
	opaque error // error of the first opaque value
}

// regex is a compiled regular expression.
type regex struct {
	re     *regexp2.Regexp
	groups int
	names  map[string]int
	// longer is like re but matches only nonempty text at the start of the search.
	longer func() (*regexp2.Regexp, error)
}

// ordered is a collection that is sorted when it is first read.
type ordered struct {
	c             *Call
	collection    *Iterator
	keys          []orderKey
	less, greater func(a, b any) (any, error)
	sorted        bool
	items         []any
	measure       // of the values it keeps alive
}

type orderKey struct {
	selector   *Lambda
	descending bool
}

// Pair is a mapping key => value with evaluated operands.
type Pair struct{ Key, Value any }

// Rule is a mapping key => value with unevaluated operands.
type Rule struct{ Key, Value *Lambda }

// Lambda is an unevaluated argument or a function value.
type Lambda struct {
	call  *Call
	body  node
	value any // result, if body is nil
}

// Call gives a function access to its arguments and to the evaluation. It is valid until the function returns and for
// as long as an iterator returned by the function is being read.
type Call struct {
	ev     *evaluation
	fn     *Function
	outer  *Context
	own    *Context
	args   []any
	rest   []any
	others []named
	buffer [4]any
}

// Context contains variables and functions and inherits from its parent. Set variables and register functions before
// evaluating expressions in the context or in contexts derived from it. Once it is no longer modified, a context is
// safe for concurrent use.
type Context struct {
	parent *Context
	scope  *scope
	// one is the value of the variable $1, which is also called $.
	one     any
	hasOne  bool
	vars    *Dict // other variables by name, nil if there are none
	measure       // of the variables, including inherited ones
}

// scope is the immutable set of functions of a context and its ancestors.
type scope struct {
	parent    *scope
	own       map[string][]*Function
	exclusive map[string]bool
	dynamic   bool // whether some functions are defined by the expression

	mu    sync.RWMutex
	cache map[string]*overloads
	// variables caches whether $name can be looked up directly: 1 if it can, 2 if a function overrides it, 0 if this is
	// not known yet.
	variables atomic.Int32
}

// overloads contains the functions with the same name.
type overloads struct {
	name           string
	plain, methods family
	dynamic        bool           // whether some are defined by the expression
	standard       bool           // whether all are part of the standard library
	binary         binaryOperator // fast path, or nil
}

// family contains the overloads that can be called as functions, or the overloads that can be called as methods.
type family struct {
	levels     [][]*Function // by context, nearest first
	noKeywords bool          // whether all have NoKeywords set
	mixed      bool          // whether only some have NoKeywords set
}

// Function is a function, method, or operator that can be registered in a [Context]. Each overload is a separate
// Function.
type Function struct {
	Name string
	// Params lists the parameters that accept positional arguments.
	Params []Param
	// Rest collects further positional arguments. Keyword lists keyword-only parameters. Others collects further
	// keyword arguments.
	Rest    *Param
	Keyword []Param
	Others  *Param
	// Method allows calls as $x.f(). Plain allows calls as f($x).
	Method, Plain bool
	// NoKeywords passes arguments of the form key => value as values of type pair or rule.
	NoKeywords bool
	// Doc describes the function. Examples show its use.
	Doc      string
	Examples []Example

	call     func(*Call) (any, error)
	swapped  *Function // overload with the first two parameters swapped
	standard bool      // part of the standard library, which allows shortcuts
	dynamic  bool      // defined by an expression
}

// Param is a parameter of a function.
type Param struct {
	Name     string
	typ      *Type
	nullable bool
	optional bool
	value    any // default
}

// Example is an expression with its result as JSON, or with "error: " followed by the error kind.
type Example struct{ Expression, Result string }

// unset is the value of an omitted argument for a parameter whose default is unset.
type unset struct{}

// class is a set of value types.
type class uint32

const (
	clNull class = 1 << iota
	clBool
	clInt
	clFloat
	clString
	clList
	clDict
	clSet
	clIterator
	clIterable // the host's values that implement Iterable
	clTime
	clSpan
	clFunction
	clContext
	clPair
	clOther

	clEvery  = 1<<iota - 1 // all except opaque values
	clOpaque = 1 << (iota - 1)

	clAnyIter   = clList | clSet | clIterator | clIterable
	clIntegral  = clBool | clInt
	clAnyNumber = clIntegral | clFloat
)

type passing uint8

const (
	byValue       passing = iota
	asLambda              // unevaluated; a *Lambda
	asRule                // unevaluated key => value; a *Rule
	asExpr                // unevaluated; can only be passed to another function
	asConstant            // a literal of type accept, or a bare name
	asKeyword             // a bare name
	asKeywordExpr         // a bare name, to be passed to another function
)

// Type is the type of a parameter.
type Type struct {
	name string
	// accept is the set of accepted values. domain is the set of values of the corresponding type in the reference. A
	// type specializes another if its domain is a proper subset of the other's. A type with domain 0 specializes no
	// type.
	accept, domain class
	passing        passing
	method         bool // lambda must be a call and is evaluated on a receiver
	inContext      bool // lambda is evaluated in a context chosen by the function
	check          func(any) bool
}

// evaluation is the state of one evaluation.
type evaluation struct {
	ctx    context.Context
	opts   *Options
	source string
	ticks  uint
	depth  int
	live   int64 // size of the large arguments of pending calls
}

// none represents a missing receiver.
var none any = noReceiver{}

type noReceiver struct{}

// binaryOperator implements an operator for common operands. It returns false for other operands.
type binaryOperator = func(ev *evaluation, a, b any) (any, bool, error)

// node is a part of a parsed expression. String returns source text that parses to an equal tree.
type node interface {
	String() string
	offset() int
}

type named struct {
	name  string
	value any
}

func findNamed(list []named, name string) int {
	for i := range list {
		if list[i].name == name {
			return i
		}
	}
	return -1
}
