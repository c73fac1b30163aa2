package muranopl

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// These types are in one file because they refer to each other. Their methods are in the other files.

// Position is a position in a source file, counted from 1. The zero Position is unknown.
type Position struct {
	File         string
	Line, Column int
}

// Node is a node in the tree of a class or object model.
type Node struct {
	Pos Position
	// Value is nil, a bool, int64, [*big.Int], float64, string, [Expression], []*Node or []Entry.
	Value any
	// Plain marks an unquoted string that looks like an expression but does not parse.
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
	// Names lists the full names for catching the exception.
	Names []string
	// Extra and Cause are arguments of Throw.
	Extra any
	Cause *Error
	// Trace is the call stack, innermost call last.
	Trace []Frame
	// Warning marks a harmless problem found by [Check].
	Warning bool

	err    error
	thrown any  // the Message of Throw
	broken bool // the contract itself is wrong, not the value
}

// Frame is a call on the stack.
type Frame struct {
	Class, Method string
	// Pos is the position of the instruction, and Instruction its source.
	Pos         Position
	Instruction string
}

// Resolver finds classes.
type Resolver interface {
	// Resolve returns the class with the given full name, such as io.murano.Object, or nil if there is none. It is
	// called once for each name.
	Resolve(name string) (*Declaration, error)
}

// Declaration is the source of a class.
type Declaration struct {
	// Name is the full name.
	Name string
	// Tree contains the keys of the class, such as Extends, Properties, and Methods.
	Tree *Node
	// Namespaces maps prefixes of names in Tree to namespaces. Unless it is nil, it overrides the tree's own.
	Namespaces *Node
	// Native lists the methods implemented in Go, by name. Tree declares their arguments.
	Native map[string]Native
	// Transient excludes objects of the class and its descendants from saved models.
	Transient bool
}

// Resolvers resolves each class with the first resolver that has it.
type Resolvers []Resolver

// Class is a loaded class. In expressions, it is the value of ns:Name.
type Class struct {
	Name       string
	Parents    []*Class
	Properties []*Property
	Methods    []*Method

	in     *Interpreter
	decl   *Declaration
	spaces namespaces
	// lineage lists the class and its ancestors, breadth first.
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

// Native is a method implemented in Go. The call has the arguments in declaration order.
type Native func(call *Call) (any, error)

// Object is a reference to an object, which may be cast to an ancestor of the object's class.
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
	header      *yaql.Dict             // of the model: entries ignored by this package
	broken      map[string]*Error      // why properties without a value in the model could not be initialized
	initialized bool
	destroyed   bool
	gone        bool // from the model
	data        any  // of native methods
}

// reference is the id of an object not loaded yet.
type reference string

// block is a list of instructions.
type block []*instruction

// instruction is an expression, an assignment, or a block construct.
type instruction struct {
	line
	run func(s *scope) error
}

// line is a position in a stack trace: an instruction, or an expression in it.
type line struct {
	pos    Position
	source string
}

// value is a compiled tree: a constant, an expression, or a list or dictionary of these.
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

// spec is the contract and default of a property or an argument.
type spec struct {
	class    *Class
	tree     *Node
	contract func() (*value, error)
	preset   func() (*value, error)
}

// contracting is the evaluation of a contract.
type contracting struct {
	spec *spec
	// what names the property or argument, path its part being matched, and where its declaration.
	what, path, where string
	node              *Node  // of the part, if it is from the model
	scope             *scope // of the object, for defaults and predicates
	// owner owns the objects loaded by the contract, and calling is the class whose namespaces they use.
	owner   *Object
	calling *Class
	// only is set to check without converting or loading, and constant to check a default without an object.
	only, constant bool
	// defaults holds the default properties of an inline object.
	defaults *value
}

// absent is the value of an omitted property or argument.
type absent struct{}

// Options configures an Interpreter.
type Options struct {
	// MaxSteps limits the number of executed instructions. The default is [DefaultMaxSteps].
	MaxSteps int
	// Functions are additional functions for workflows.
	Functions []*yaql.Function
	// Sleep waits for a duration. The default uses a timer.
	Sleep func(context.Context, time.Duration) error
}

// Interpreter loads classes and objects and runs methods. It is not safe for concurrent use.
type Interpreter struct {
	resolver  Resolver
	options   Options
	classes   map[string]*Class // nil while being loaded
	opening   []string          // classes being loaded, outermost first
	report    func(*Error)      // for Check, which loads classes in spite of errors
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
	exceeded error // set when there are too many branches, which ends them all
	held     int64 // bytes held by variables and properties
	tasks
}

// loading is the state while creating objects that may refer to each other. Each object is initialized twice: the first
// pass leaves ids of objects that do not exist yet, and the second replaces them.
type loading struct {
	made    map[slot][]*Object     // from the first pass, for the second
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

// definition is an object in a model.
type definition struct {
	model            *yaql.Dict
	class            *Class
	id, name, place  string
	header           *yaql.Dict // entries unknown to this package
	properties       *yaql.Dict
	node, headerNode *Node
	goneFrom         string // the owner's id, for an object that is gone
	dry              bool   // for a template
}

// tasks holds the branches of all running Parallel instructions. They take turns: one runs until it sleeps, or waits
// for its own branches or for a method running in another branch. The order does not depend on the clock.
type tasks struct {
	current *task
	ready   []*task // in order of time, then of arrival
	waiting []*task // for methods
	locks   map[lock]*task
	// branches counts the running branches.
	branches int
	now      time.Duration // since the start, not counting the execution of instructions
}

// task is a branch of Parallel.
type task struct {
	outer  *task // the branch that started it
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	done   func()
	err    error

	wake  time.Duration // when to resume
	lock  lock          // to wait for
	stuck bool          // no other branch can release the lock
}

// lock is a method of an object, which at most one branch may run at a time.
type lock struct {
	inst   *instance
	method *Method
}

// scope is the state of a running method.
type scope struct {
	in     *Interpreter
	class  *Class  // declares the method; nil for the host
	method *Method // nil for the host, and in defaults and predicates
	this   *Object
	caller *scope
	depth  int
	// vars holds the variables of the method, and ctx, a descendant of vars, those of the running branch of Parallel.
	vars, ctx *yaql.Context
	current   *line
	exception *Error // being handled by Catch
	contract  *contracting
	held      *int64 // by the variables of the method
	// initializing allows writing any property: in .init and the methods it calls.
	initializing bool
}

// jump ends a block: Break, Continue, or Return.
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

// namespaces maps the prefixes of names in a class to namespaces.
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
