package yaql

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dlclark/regexp2/v2"
)

// The types in this file refer to each other. What is done with them is in the files above.

// Typed may be implemented by a host's values, which must be comparable, as pointers are.
type Typed interface {
	// YAQLType returns the name of the value's type for messages.
	YAQLType() string
}

// Receiver may be implemented by a host's values that have properties and methods of their own.
type Receiver interface {
	// YAQLProperty returns a property, as an expression in a context sees it.
	YAQLProperty(name string, in *Context) (any, error)
	// YAQLMethod returns the method of a name, which counts instead of those in contexts, or nil.
	YAQLMethod(name string) *Function
}

// Opaque may be implemented by a host's values that nothing can be computed from. They can be assigned, and be parts of
// lists and dictionaries. Functions take them only by parameters of the host's own types.
type Opaque interface {
	// YAQLOpaque returns the error of using the value.
	YAQLOpaque() error
}

// Text may be implemented by opaque values that can be parts of strings.
type Text interface {
	Opaque
	// YAQLText returns the opaque value for the string of the parts, which are strings and opaque values.
	YAQLText(parts []any) (any, error)
}

// Iterable may be implemented by a host's value that can be iterated over any number of times.
type Iterable interface {
	Iterate() *Iterator
}

// TimeSpan is a duration in microseconds.
type TimeSpan int64

// List is a list. The reference has tuples, which can be keys, and lists, which cannot; neither equals the other.
type List struct {
	items []any
	measure
	mutable bool
	key     atomic.Pointer[string] // once it is known
}

type entry struct{ key, value any }

// Dict is a dictionary in order of insertion. Keys that are equal, such as 1, 1.0 and true, are one key.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
	measure
	mutable bool
	key     atomic.Pointer[string]
}

// smallDict is the number of entries up to which a search is as fast as a map.
const smallDict = 8

// Set is a set in order of insertion.
type Set struct {
	items []any
	index map[any]int
	measure
	// of is a dictionary whose keys or, as pairs, entries the set shows. Such a set is not hashable and has no index.
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
	scope   *Context // whose variables are part of that
}

// measure is the size of a collection, and how deep values are nested in it: reading a deeply nested iterator takes as
// much stack.
type measure struct {
	size   int64
	depth  int32
	opaque error // of the first opaque value in it
}

// regex is a compiled regular expression.
type regex struct {
	re     *regexp2.Regexp
	groups int
	names  map[string]int
	// longer matches what is not empty at the start of the search only.
	longer func() (*regexp2.Regexp, error)
}

// ordered is a collection that is sorted when it is read first.
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
	value any // instead of a body: a value that the lambda evaluates to
}

// Call gives a function its arguments and access to the evaluation. It is valid until the function returns, and for as long
// as an iterator that it returned is read.
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

// Context holds variables and functions. It falls back to its parent for what it lacks. Functions and variables must be
// registered before expressions are evaluated in it, or contexts derived from it; from then on it may be used by many
// goroutines.
type Context struct {
	parent *Context
	scope  *scope
	// one is the variable $1, which is $ too.
	one     any
	hasOne  bool
	vars    *Dict // the others, by name; nil if there are none
	measure       // of the variables, including those of the parents
}

// scope is the functions of a context and of those above it. It never changes.
type scope struct {
	parent    *scope
	own       map[string][]*Function
	exclusive map[string]bool
	dynamic   bool // some functions are defined by the expression

	mu    sync.RWMutex
	cache map[string]*overloads
	// variables tells whether $name is looked up directly: 1 if so, 2 if a function replaces that, 0 if not known yet.
	variables atomic.Int32
}

// overloads are the functions of a name.
type overloads struct {
	name           string
	plain, methods family
	dynamic        bool           // some are defined by the expression
	standard       bool           // all are this package's
	binary         binaryOperator // a shortcut
}

// family is the overloads that can be called as functions, or as methods.
type family struct {
	levels     [][]*Function // by the context that they are registered in, nearest first
	noKeywords bool          // they have NoKeywords
	mixed      bool          // only some of them have
}

// Function is a function, method or operator that can be registered in a [Context]. The overloads of a name are separate
// functions.
type Function struct {
	Name string
	// Params are the parameters that can be given by position.
	Params []Param
	// Rest takes further positional arguments, Keyword are parameters that can be given by name only, and Others takes
	// further keyword arguments.
	Rest    *Param
	Keyword []Param
	Others  *Param
	// Method and Plain are how the function can be called: as $x.f(), as f($x), or both.
	Method, Plain bool
	// NoKeywords makes key => value in arguments values of type pair, or rules.
	NoKeywords bool
	// Doc describes the function, and Examples show it.
	Doc      string
	Examples []Example

	call     func(*Call) (any, error)
	swapped  *Function // the overload whose first two parameters are in the other order
	standard bool      // part of this package, so that evaluation may take shortcuts
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

// Example is an expression and its result as JSON. For an error it is "error: " and the kind.
type Example struct{ Expression, Result string }

// unset is the value of a parameter declared as name type=unset that no argument was given for.
type unset struct{}

// class is a set of types of values.
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
	clIterable // values of the host that implement Iterable
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
	asExpr                // unevaluated; only good for passing on to another function
	asConstant            // a literal of type accept, or a bare name
	asKeyword             // a bare name
	asKeywordExpr         // a bare name, for passing on to another function
)

// Type is the type of a parameter.
type Type struct {
	name string
	// accept are the types of values. domain are those of the type in the reference that accept is a part of: a type
	// whose domain lies within another's specializes it. A domain of 0 specializes nothing.
	accept, domain class
	passing        passing
	method         bool // of a lambda: only a call, which gets a receiver
	inContext      bool // of a lambda: evaluated in a context that the function makes
	check          func(any) bool
}

// evaluation is the state of one evaluation.
type evaluation struct {
	ctx    context.Context
	opts   *Options
	source string
	ticks  uint
	depth  int
	live   int64 // size of the arguments of pending calls, as far as they are large
}

// none is the receiver of what is not called as a method.
var none any = noReceiver{}

type noReceiver struct{}

// A binaryOperator returns false for operands that it is not for.
type binaryOperator = func(ev *evaluation, a, b any) (any, bool, error)

// A node is a part of a parsed expression. Its String is source text that parses to the same tree.
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
