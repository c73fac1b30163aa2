package features

import "github.com/lumi-idl/lumi/idl"

// Words has properties with names that mean something to TypeScript.
type Words struct {
	idl.Resource
	Abstract, Accessor, Any, As, Async, Await, Break, Class, Const, Declare, Default, Delete, Enum, Export *string `lumi:"optional"`
	Extends, False, Get, Implements, Import, In, Infer, Instanceof, Interface, Keyof, Let, New, Null, Of   *string `lumi:"optional"`
	Override, Package, Private, Protected, Public, Readonly, Set, Static, Super, This, Type, Typeof, Void  *string `lumi:"optional"`
	Arguments, Eval, Name, Length, Prototype, Apply, Call, Shape, Then, ToJSON, Undefined, Var, With       *string `lumi:"optional"`
	Lumi_                                                                                                  *string `lumi:"name=lumi,optional"`
	Ready                                                                                                  bool    `lumi:"name=readonly2,out"`
}

type (
	abstract  struct{ Of of }
	accessor  string
	async     struct{ As abstract }
	asserts   struct{ Is is }
	declare   struct{ Async async }
	from      []declare
	get       struct{ Set set }
	global    struct{ Get get }
	is        struct{ Module module }
	module    struct{ Namespace namespace }
	namespace map[string]out
	of        struct{ Out out }
	out       struct{ Override override }
	override  struct{ Require global }
	satisfies struct{ From from }
	set       struct{ Asserts asserts }
)

const accessorOne accessor = "one"
