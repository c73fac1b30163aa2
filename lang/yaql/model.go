package yaql

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dlclark/regexp2/v2"
)

// These types are in one file because they refer to each other. Their methods are in the other files.

// Typed may be implemented by the host's values. Their types must be comparable; pointers are.
type Typed interface {
	// YAQLType returns the name of the value's type for messages.
	YAQLType() string
}

// Receiver may be implemented by the host's values with properties and methods of their own.
type Receiver interface {
	// YAQLProperty returns the value of a property in a context.
	YAQLProperty(name string, in *Context) (any, error)
	// YAQLMethod returns the named method, which overrides methods of contexts, or nil.
	YAQLMethod(name string) *Function
}

// Opaque may be implemented by the host's values that cannot be inspected. They can be assigned and put into lists and
// dictionaries, but only functions with parameters of the host's own types accept them.
type Opaque interface {
	// YAQLOpaque returns the error for an attempt to use the value.
	YAQLOpaque() error
}

// Text may be implemented by opaque values that can be interpolated into strings.
type Text interface {
	Opaque
	// YAQLText returns the opaque value for the concatenation of parts, which are strings and opaque values.
	YAQLText(parts []any) (any, error)
}

// Iterable may be implemented by a host's value that can be iterated over repeatedly.
type Iterable interface {
	Iterate() *Iterator
}

// TimeSpan is a duration in microseconds.
type TimeSpan int64

// List is a list. The reference has tuples, which are hashable, and lists, which are not; a tuple never equals a list.
type List struct {
	items []any
	measure
	mutable bool
	key     atomic.Pointer[string] // set when first computed
}

type entry struct{ key, value any }

// Dict is a dictionary in insertion order. Equal keys, such as 1, 1.0 and true, are the same key.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
	measure
	mutable bool
	key     atomic.Pointer[string]
}

// smallDict is the number of entries up to which a linear search is as fast as a map.
const smallDict = 8

// Set is a set in insertion order.
type Set struct {
	items []any
	index map[any]int
	measure
	// of is the dictionary whose keys or, as pairs, entries the set is a view of. Such a set is not hashable and has no
	// index.
	of    *Dict
	pairs bool
	key   atomic.Pointer[string]
}

// Iterator is a lazy sequence that can be read once.
type Iterator struct {
	next func() (any, bool, error)
	// again restarts an iterator that remembers its items.
	again   func() *Iterator
	done    bool
	measure          // of what it keeps in use
	scope   *Context // whose variables are part of measure
}

// measure is the size of a collection and the nesting depth of its values: reading a deeply nested iterator takes a
// corresponding amount of stack.
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
	// longer matches only non-empty text at the start of the search.
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
	measure       // of what it keeps in use
}

type orderKey struct {
	selector   *Lambda
	descending bool
}

// Pair is an evaluated key => value.
type Pair struct{ Key, Value any }

// Rule is an unevaluated key => value.
type Rule struct{ Key, Value *Lambda }

// Lambda is an unevaluated argument, or a function as a value.
type Lambda struct {
	call  *Call
	body  node
	value any // instead of a body: the result
}

// Call gives a function access to its arguments and the evaluation. It is valid until the function returns and while an
// iterator that it returned is being read.
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

// Context holds variables and functions, and inherits from its parent. All functions and variables must be registered
// before expressions are evaluated in it or in derived contexts; after that it is safe for concurrent use.
type Context struct {
	parent *Context
	scope  *scope
	// one is the variable $1, which is also $.
	one     any
	hasOne  bool
	vars    *Dict // the other variables by name, nil if there are none
	measure       // of the variables, including the parents'
}

// scope is the set of functions of a context and its ancestors. It is immutable.
type scope struct {
	parent    *scope
	own       map[string][]*Function
	exclusive map[string]bool
	dynamic   bool // some functions are defined by the expression

	mu    sync.RWMutex
	cache map[string]*overloads
	// variables records whether $name is looked up directly: 1 if so, 2 if a function overrides it, 0 if not determined
	// yet.
	variables atomic.Int32
}

// overloads are the functions that share a name.
type overloads struct {
	name           string
	plain, methods family
	dynamic        bool           // some are defined by the expression
	standard       bool           // all are this package's
	binary         binaryOperator // shortcut
}

// family is the overloads that can be called as functions, or as methods.
type family struct {
	levels     [][]*Function // by context, nearest first
	noKeywords bool          // all have NoKeywords
	mixed      bool          // some have NoKeywords
}

// Function is a function, method or operator that can be registered in a [Context]. Each overload is a separate
// Function.
type Function struct {
	Name string
	// Params are the parameters that can be given by position.
	Params []Param
	// Rest takes further positional arguments, Keyword lists parameters that can be given only by name, and Others
	// takes further keyword arguments.
	Rest    *Param
	Keyword []Param
	Others  *Param
	// Method and Plain select how the function can be called: as $x.f(), as f($x), or both.
	Method, Plain bool
	// NoKeywords passes key => value arguments as values of type pair, or as rules.
	NoKeywords bool
	// Doc describes the function, and Examples show its use.
	Doc      string
	Examples []Example

	call     func(*Call) (any, error)
	swapped  *Function // overload with the first two parameters swapped
	standard bool      // part of this package, which allows shortcuts
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

// Example is an expression and its result as JSON, or "error: " and the error kind.
type Example struct{ Expression, Result string }

// unset is the value of an omitted parameter declared as name type=unset.
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

	clEvery  = 1<<iota - 1 // except opaque values
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
	asExpr                // unevaluated; can only be passed on to another function
	asConstant            // a literal of type accept, or a bare name
	asKeyword             // a bare name
	asKeywordExpr         // a bare name, for passing on to another function
)

// Type is the type of a parameter.
type Type struct {
	name string
	// accept lists the accepted types of values. domain lists the values of the reference's type that accept is part
	// of: a type specializes another whose domain includes its own. A domain of 0 specializes nothing.
	accept, domain class
	passing        passing
	method         bool // of a lambda: must be a call, which gets a receiver
	inContext      bool // of a lambda: evaluated in a context from the function
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

// none is the receiver if there is none.
var none any = noReceiver{}

type noReceiver struct{}

// A binaryOperator returns false for operands that it does not support.
type binaryOperator = func(ev *evaluation, a, b any) (any, bool, error)

// A node is part of a parsed expression. Its String is source text that parses to the same tree.
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
