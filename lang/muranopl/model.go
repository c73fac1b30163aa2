package muranopl

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// These types are in one file because they refer to each other. Their methods are in other files.

// Position is a position in a source file. Line and Column count from 1. The zero Position is unknown.
type Position struct {
	File         string
	Line, Column int
}

// Node is a node in the tree of a class or object model.
type Node struct {
	Pos Position
	// Value is nil, a bool, int64, [*big.Int], float64, string, [Expression], []*Node, or []Entry.
	Value any
	// Plain marks an unquoted string that looks like an expression but is not valid.
	Plain bool
}

// Entry is an entry of a dictionary.
type Entry struct{ Key, Value *Node }

// Expression is the source of a YAQL expression.
type Expression string

// Error is the type of all errors of this package.
type Error struct {
	Kind    yaql.Kind
	Message string
	// Pos is the position of the error.
	Pos Position
	// Names lists the full names under which the exception can be caught.
	Names []string
	// Extra and Cause are the arguments of Throw with these names.
	Extra any
	Cause *Error
	// Trace is the call stack, innermost call last.
	Trace []Frame
	// Warning marks a problem found by [Check] that does not prevent a run.
	Warning bool

	err    error
	thrown any  // argument Message of Throw
	broken bool // whether the contract itself is invalid rather than the value
}

// Frame is a call in a stack trace.
type Frame struct {
	Class, Method string
	// Pos is the position of the instruction. Instruction is its source text.
	Pos         Position
	Instruction string
}

// Resolver finds classes by name.
type Resolver interface {
	// Resolve returns the class with the given full name, such as io.murano.Object, or nil if there is none. It is
	// called only once for each name.
	Resolve(name string) (*Declaration, error)
}

// Declaration is the source of a class.
type Declaration struct {
	// Name is the full name of the class.
	Name string
	// Tree contains the keys of the class, such as Extends, Properties, and Methods.
	Tree *Node
	// Namespaces maps prefixes of names in Tree to namespaces. If it is not nil, it overrides the namespaces in Tree.
	Namespaces *Node
	// Native contains the methods implemented in Go, by name. Tree declares their arguments.
	Native map[string]Native
	// Transient excludes objects of the class and of derived classes from saved models.
	Transient bool
}

// Resolvers resolves each class with the first resolver that contains it.
type Resolvers []Resolver

// Class is a loaded class. The expression ns:Name evaluates to a Class.
type Class struct {
	Name       string
	Parents    []*Class
	Properties []*Property
	Methods    []*Method

	in     *Interpreter
	decl   *Declaration
	spaces namespaces
	// lineage lists the class and its ancestors in breadth-first order.
	lineage []*Class
	known   map[*Class]bool // lineage as a set
	methods map[string][]*Method
	props   map[string][]*Property
	self    *Object // see static
}

// Property is a property of a class.
type Property struct {
	Name  string
	Usage Usage
	Pos   Position
	spec
}

// Method is a method of a class.
type Method struct {
	Name  string
	Class *Class
	// Arguments lists the parameters in order.
	Arguments []*Argument
	Pos       Position

	tree   *Node
	native Native
	body   func() (block, error)
	called *yaql.Function
	static bool
}

// Argument is a parameter of a method.
type Argument struct {
	Name string
	spec
}

// Native is a method implemented in Go. The call contains the arguments in declaration order.
type Native func(call *Call) (any, error)

// Object is a reference to an object. It may be cast to an ancestor of the object's class.
type Object struct {
	inst  *instance
	class *Class
}

// instance is the state of an object.
type instance struct {
	id, name    string
	class       *Class
	owner       *Object
	properties  map[string]any
	private     map[*Class]map[string]any
	views       map[*Class]*Object
	attributes  map[*Class]map[any]any // by the class that set them; not saved
	header      *yaql.Dict             // entries of the model's header that this package ignores
	broken      map[string]*Error      // errors in the initialization of properties without a value in the model
	initialized bool
	destroyed   bool
	gone        bool // removed from the model
	data        any  // see SetData
}

// reference is the id of an object that has not been loaded yet.
type reference string

// block is a list of instructions.
type block []*instruction

// instruction is a compiled expression, assignment, or block construct.
type instruction struct {
	line
	run func(s *scope) error
}

// line is the position and source text of an instruction, or of an expression in it, for stack traces.
type line struct {
	pos    Position
	source string
}

// value is a compiled tree: a constant, an expression, or a list or a dictionary of such values.
type value struct {
	line
	constant any
	expr     *yaql.Expression
	items    []*value
	entries  []valueEntry
	kind     valueKind
}

type valueKind uint8

const (
	isConstant valueKind = iota
	isExpression
	isList
	isDict
)

type valueEntry struct{ key, value *value }

// spec is the contract and the default of a property or an argument.
type spec struct {
	class    *Class
	tree     *Node
	contract func() (*value, error)
	preset   func() (*value, error)
}

// contracting is the state of the application of a contract to a value.
type contracting struct {
	spec *spec
	// what names the property or argument. path locates the part being checked. where locates the declaration.
	what, path, where string
	node              *Node  // of the part, if it is from the model
	scope             *scope // of the object, for defaults and predicates
	// owner is the owner of objects loaded by the contract. calling is the class whose namespaces apply to them.
	owner   *Object
	calling *Class
	// only disables conversion and loading. constant is set to check a default without an object.
	only, constant bool
	// defaults contains the default properties of an inline object.
	defaults *value
}

// absent is the value of an omitted property or argument.
type absent struct{}

// Options configures an [Interpreter].
type Options struct {
	// MaxSteps limits the number of executed instructions. The default is [DefaultMaxSteps].
	MaxSteps int
	// Functions lists the host's functions for workflows.
	Functions []*yaql.Function
	// Config returns the value of a configuration key, or preset if it has none. The default always returns preset.
	Config func(key string, preset any) (any, error)
	// Sleep waits for a duration or until the context is done. The default uses a timer.
	Sleep func(context.Context, time.Duration) error
}

// Interpreter loads classes, creates objects, and runs methods. It is not safe for concurrent use.
type Interpreter struct {
	resolver  Resolver
	options   Options
	classes   map[string]*Class // nil while being loaded
	opening   []string          // classes being loaded, outermost first
	report    func(*Error)      // set by Check, which loads classes despite errors
	workflows *yaql.Context
	contracts *yaql.Context

	objects map[string]*Object
	order   []*Object // in order of creation
	loading *loading
	nodes   map[*yaql.Dict]*Node // of the model being loaded
	nesting int                  // of object initializations
	ids     map[string]int       // number of objects created at a place
	taken   map[string]bool      // used ids
	created int

	run      context.Context
	steps    int
	exceeded error // set when there are too many branches; ends all branches
	held     int64 // bytes held by variables and properties
	tasks
}

// loading is the state of the creation of objects that may refer to each other. Each object is initialized twice: the
// first pass leaves ids of objects that do not exist yet, and the second pass replaces them.
type loading struct {
	made    map[slot][]*Object     // objects created in the first pass, for use in the second
	kept    map[string]*definition // objects in made from the last deployment
	outer   *loading
	objects map[string]*Object
	models  map[string]*yaql.Dict // of objects with ids
	order   []*Object
	first   bool
	dry     bool // do not keep the objects or call .init
	keepIDs bool // keep the ids of the model
	inits   []func() error
}

// slot is the place in the model of an object without an id.
type slot struct {
	owner *Object
	place string
}

// definition is a parsed object of a model.
type definition struct {
	model            *yaql.Dict
	class            *Class
	id, name, place  string
	header           *yaql.Dict // entries that this package ignores
	properties       *yaql.Dict
	node, headerNode *Node
	goneFrom         string // id of the owner, for an object removed from the model
	dry              bool   // whether the definition is for a template
}

// tasks contains the branches of all running Parallel instructions. They take turns: a branch runs until it sleeps,
// waits for its own branches, or waits for a method running in another branch. The order does not depend on the clock.
type tasks struct {
	current *task
	ready   []*task // in order of time, then of arrival
	waiting []*task // for methods
	locks   map[lock]*task
	// branches is the number of running branches.
	branches int
	now      time.Duration // virtual time since the start; executing instructions takes none
}

// task is a branch of Parallel.
type task struct {
	outer  *task // branch that started this one
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	done   func()
	err    error

	wake  time.Duration // virtual time at which to resume
	lock  lock          // lock to wait for
	stuck bool          // whether no other branch can release the lock
}

// lock identifies a method of an object, which only one branch may run at a time.
type lock struct {
	inst   *instance
	method *Method
}

// scope is the state of a running method.
type scope struct {
	in     *Interpreter
	class  *Class  // class that declares the method; nil for the host
	method *Method // nil for the host, and in defaults and predicates
	this   *Object
	caller *scope
	depth  int
	// vars contains the variables of the method. ctx is a descendant of vars with the variables of the running branch
	// of Parallel.
	vars, ctx *yaql.Context
	current   *line
	exception *Error // being handled by Catch
	contract  *contracting
	held      *int64 // size of the variables of the method in bytes
	// initializing allows writing any property. It is set in .init and in the methods it calls.
	initializing bool
}

// jump ends a block because of Break, Continue, or Return.
type jump struct {
	name  string
	value any // of Return
}

// argument is a named argument.
type argument struct {
	name  string
	value any
}

// Call is a call of a native method.
type Call struct {
	*scope
	args []any
}

// namespaces maps prefixes of class names to namespaces.
type namespaces map[string]string

// Usage determines who may read and write a property.
type Usage string

// Usages.
const (
	In      Usage = "In"      // from the model; read-only for workflows
	Out     Usage = "Out"     // from workflows; not in the model
	InOut   Usage = "InOut"   // from the model and from workflows
	Const   Usage = "Const"   // like In, and never changes
	Runtime Usage = "Runtime" // from workflows; not saved
	Config  Usage = "Config"  // like Runtime, since there is no configuration
	Static  Usage = "Static"  // like Runtime, but shared by all objects
)

var usages = []Usage{In, Out, InOut, Const, Runtime, Config, Static}

type compiler struct {
	class  *Class
	report func(*Error)
}
