package muranopl

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// The types in this file refer to each other. What is done with them is in the files above.

// Position is a place in a source file, counted from 1. The zero Position is unknown.
type Position struct {
	File         string
	Line, Column int
}

// Node is a part of a decoded class or object model.
type Node struct {
	Pos Position
	// Value is nil, a bool, int64, [*big.Int], float64, string, [Expression], []*Node or []Entry.
	Value any
	// Plain marks a string that was written without quotes, like an expression, but does not parse.
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
	// Pos is where the error occurred.
	Pos Position
	// Names are the full names of the exception, by which it can be caught.
	Names []string
	// Extra and Cause are those of Throw.
	Extra any
	Cause *Error
	// Trace is the stack of calls, innermost last.
	Trace []Frame
	// Warning marks what Check finds that fails nothing.
	Warning bool

	err    error
	thrown any  // the Message of Throw
	broken bool // A contract is wrong, not the value that it is evaluated for.
}

// Frame is a call on the stack of an error.
type Frame struct {
	Class, Method string
	// Pos is the position of the instruction, and Instruction its source.
	Pos         Position
	Instruction string
}

// Resolver finds classes.
type Resolver interface {
	// Resolve returns the class of a full name, such as io.murano.Object, or nil if there is none. Classes of one name are
	// resolved once.
	Resolve(name string) (*Declaration, error)
}

// Declaration is a class before it is loaded.
type Declaration struct {
	// Name is the full name.
	Name string
	// Tree has the keys of the class: Extends, Properties, Methods and so on.
	Tree *Node
	// Namespaces are the prefixes of names in Tree. They override those of the tree, if it has any, and may be nil.
	Namespaces *Node
	// Native are the methods in Go, by name. Tree declares their arguments.
	Native map[string]Native
	// Transient leaves objects of the class and its descendants out of saved models.
	Transient bool
}

// Resolvers finds a class in the first resolver that has it.
type Resolvers []Resolver

// Class is a loaded class. As a value of expressions, it is what ns:Name evaluates to.
type Class struct {
	Name       string
	Parents    []*Class
	Properties []*Property
	Methods    []*Method

	in     *Interpreter
	decl   *Declaration
	spaces namespaces
	// lineage is the class and its ancestors, breadth first.
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
	// Arguments are the parameters in order.
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

// Native is a method in Go. The call has the arguments in order of the declaration.
type Native func(call *Call) (any, error)

// Object is an object as a value of expressions: seen as its own class, or cast to one of its ancestors.
type Object struct {
	inst  *instance
	class *Class
}

// instance is an object.
type instance struct {
	id, name    string
	class       *Class
	owner       *Object
	properties  map[string]any
	private     map[*Class]map[string]any
	views       map[*Class]*Object
	attributes  map[*Class]map[any]any // by the classes that set them; not saved
	header      *yaql.Dict             // of the model: what this package does not know
	broken      map[string]*Error      // why properties that the model does not have could not be initialized
	initialized bool
	destroyed   bool
	gone        bool // from the model
	data        any  // of native methods
}

// reference is an id in a model whose object was not loaded yet.
type reference string

// block is a list of instructions.
type block []*instruction

// instruction is an expression, an assignment or a block construct.
type instruction struct {
	line
	run func(s *scope) error
}

// line is where a stack trace is: an instruction, or an expression in it.
type line struct {
	pos    Position
	source string
}

// value is a compiled tree: a constant, an expression, or a list or dictionary of such.
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

// spec is the contract of a property or an argument, and its default.
type spec struct {
	class    *Class
	tree     *Node
	contract func() (*value, error)
	preset   func() (*value, error)
}

// contracting is the evaluation of a contract.
type contracting struct {
	spec *spec
	// what is the property or the argument, path the part of it that is matched, and where what declares it.
	what, path, where string
	node              *Node  // of the part in the model, if it is from one
	scope             *scope // of the object, for defaults and predicates
	// owner becomes the owner of objects that the contract loads, and calling is the class whose names they use.
	owner   *Object
	calling *Class
	// only checks: nothing is converted or loaded. constant checks a default without an object.
	only, constant bool
	// defaults are those of the properties of an object that was given inline.
	defaults *value
}

// absent is the value of a property or an argument that was not given.
type absent struct{}

// Options are the options of an Interpreter.
type Options struct {
	// MaxSteps is the number of instructions that may be executed, [DefaultMaxSteps] if it is 0.
	MaxSteps int
	// Functions are further functions of workflows.
	Functions []*yaql.Function
	// Sleep waits, and is nil to wait by the clock.
	Sleep func(context.Context, time.Duration) error
}

// Interpreter loads classes and objects and runs methods. It is not safe for concurrent use.
type Interpreter struct {
	resolver  Resolver
	options   Options
	classes   map[string]*Class // nil while they are loaded
	opening   []string          // classes that are loaded, outermost first
	report    func(*Error)      // for Check, which loads classes whatever is wrong with them
	workflows *yaql.Context
	contracts *yaql.Context

	objects map[string]*Object
	order   []*Object // in order of creation
	loading *loading
	nodes   map[*yaql.Dict]*Node // of the model that is loaded
	nesting int                  // of objects that are initialized
	ids     map[string]int       // created at a place
	taken   map[string]bool      // ids
	created int

	run      context.Context
	steps    int
	exceeded error // The limit of branches is exceeded, and all end.
	held     int64 // by variables and properties
	tasks
}

// loading is the creation of objects that may refer to each other. Every object is initialized twice: the first time, ids
// of objects that do not exist yet are kept, the second time they are replaced.
type loading struct {
	made    map[slot][]*Object     // the first time, to be taken the second time
	kept    map[string]*definition // objects of made that the last deployment had
	outer   *loading
	objects map[string]*Object
	models  map[string]*yaql.Dict // of objects with ids
	order   []*Object
	first   bool
	dry     bool // The objects are not kept, and their .init is not called.
	keepIDs bool // those of the model are the ids of the objects
	inits   []func() error
}

// slot is where an object is that has no id in the model.
type slot struct {
	owner *Object
	place string
}

// definition is an object as models have it.
type definition struct {
	model            *yaql.Dict
	class            *Class
	id, name, place  string
	header           *yaql.Dict // what this package does not know
	properties       *yaql.Dict
	node, headerNode *Node
	goneFrom         string // the id of the owner, for an object that is gone
	dry              bool   // for a template
}

// tasks are the branches of all Parallel that run. They take turns: one runs until it sleeps, waits for a method that
// another runs, or for its own branches. The order does not depend on the clock.
type tasks struct {
	current *task
	ready   []*task // in this order where their times are equal
	waiting []*task // for methods
	locks   map[lock]*task
	// branches are those that have begun and not ended.
	branches int
	now      time.Duration // since the start, without the time that instructions take
}

// task is a branch of Parallel.
type task struct {
	outer  *task // whose branch it is
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	done   func()
	err    error

	wake  time.Duration // when it goes on
	lock  lock          // that it waits for
	stuck bool          // because no other branch can release the lock
}

// lock is a method of an object. Only one branch at a time runs it.
type lock struct {
	inst   *instance
	method *Method
}

// scope is a running method.
type scope struct {
	in     *Interpreter
	class  *Class  // that declares the method; nil for the host
	method *Method // nil for the host, and in defaults and predicates
	this   *Object
	caller *scope
	depth  int
	// vars has the variables of the method, ctx those of the branch of Parallel that runs, below vars.
	vars, ctx *yaql.Context
	current   *line
	exception *Error // that Catch handles
	contract  *contracting
	held      *int64 // by the variables of the method
	// initializing allows writing properties whatever their usage, in .init and the methods that it calls.
	initializing bool
}

// jump ends a block: Break, Continue or Return.
type jump struct {
	name  string
	value any // of Return
}

// argument is an argument by name.
type argument struct {
	name  string
	value any
}

// Call is a call of a native method.
type Call struct {
	*scope
	args []any
}

// namespaces are the prefixes of the names in a class.
type namespaces map[string]string

// Usage determines who may read and write a property.
type Usage string

// The usages.
const (
	In      Usage = "In"      // from the model; workflows cannot write it
	Out     Usage = "Out"     // from workflows; not in the model
	InOut   Usage = "InOut"   // from the model and from workflows
	Const   Usage = "Const"   // as In, and never changes
	Runtime Usage = "Runtime" // from workflows, and not saved
	Config  Usage = "Config"  // as Runtime: there is no configuration that would set it
	Static  Usage = "Static"  // as Runtime, and all objects share one value
)

var usages = []Usage{In, Out, InOut, Const, Runtime, Config, Static}

// compiler compiles the body of a method.
type compiler struct {
	class  *Class
	report func(*Error)
}
