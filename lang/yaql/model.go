package yaql

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dlclark/regexp2/v2"
)

// These types are in one file because they refer to each other. Their methods are in the other files.

// Typed may be implemented by the host's values, whose types must be comparable, such as pointers.
type Typed interface {
	// YAQLType returns the name of the value's type for messages.
	YAQLType() string
}

// Receiver may be implemented by the host's values that have properties and methods.
type Receiver interface {
	// YAQLProperty returns the value of a property in a context.
	YAQLProperty(name string, in *Context) (any, error)
	// YAQLMethod returns the named method, which overrides methods of contexts, or nil.
	YAQLMethod(name string) *Function
}

// Opaque may be implemented by the host's values that expressions cannot inspect. They can be assigned, and stored in
// lists and dictionaries, but are accepted only by functions with parameters of the host's types.
type Opaque interface {
	// YAQLOpaque returns the error for an attempt to use the value.
	YAQLOpaque() error
}

// Text may be implemented by opaque values that support concatenation with strings.
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

// List is a tuple or a list of the reference. Tuples are hashable, lists are not; a tuple never equals a list.
type List struct {
	items []any
	measure
	mutable bool
	key     atomic.Pointer[string] // set when first computed
}

type entry struct{ key, value any }

// Dict is a dictionary in insertion order. Equal keys, such as 1, 1.0, and true, are the same key.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
	measure
	mutable bool
	key     atomic.Pointer[string]
}

// smallDict is the maximum number of entries with a linear search, which is then as fast as a map.
const smallDict = 8

// Set is a set in insertion order.
type Set struct {
	items []any
	index map[any]int
	measure
	// of is the dictionary if the set is a view of its keys or, as pairs, its entries. Such a set is unhashable and has
	// no index.
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

// ordered is a collection sorted when first read.
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
// iterator it returned is being read.
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

// Context holds variables and functions, and inherits from its parent. Register all functions and set all variables
// before evaluating expressions in it or in derived contexts; after that, it is safe for concurrent use.
type Context struct {
	parent *Context
	scope  *scope
	// one is the variable $1, or $.
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

// overloads holds the functions with the same name.
type overloads struct {
	name           string
	plain, methods family
	dynamic        bool           // some are defined by the expression
	standard       bool           // all are this package's
	binary         binaryOperator // shortcut
}

// family holds the overloads callable as functions, or those callable as methods.
type family struct {
	levels     [][]*Function // by context, nearest first
	noKeywords bool          // all have NoKeywords
	mixed      bool          // some have NoKeywords
}

// Function is a function, method, or operator for use in a [Context]. Each overload is a separate Function.
type Function struct {
	Name string
	// Params lists the parameters that accept positional arguments.
	Params []Param
	// Rest takes further positional arguments, Keyword lists keyword-only parameters, and Others takes further keyword
	// arguments.
	Rest    *Param
	Keyword []Param
	Others  *Param
	// Method allows calls as $x.f(), and Plain as f($x).
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
	// accept lists the accepted types of values. domain lists the values of the corresponding type in the reference: a
	// type specializes another whose domain includes its own. A domain of 0 specializes nothing.
	accept, domain class
	passing        passing
	method         bool // of a lambda: must be a call, which is given a receiver
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

// none represents a missing receiver.
var none any = noReceiver{}

type noReceiver struct{}

// A binaryOperator returns false for unsupported operands.
type binaryOperator = func(ev *evaluation, a, b any) (any, bool, error)

// A node is a part of a parsed expression. String returns source text that parses to the same tree.
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
