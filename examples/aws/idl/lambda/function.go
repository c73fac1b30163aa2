package lambda

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/ec2"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A Function is a program that runs when it is called and costs nothing while it is not.
type Function struct {
	idl.NamedResource
	aws.Tagged
	// The program and what it needs. Amazon keeps it and does not give it back.
	Code *idl.Archive `lumi:"in"`
	// The entry point: a file and a function in it, such as `index.handler`.
	Handler string `lumi:"maxLength=128,pattern='^[^\\t\\n\\f\\r ]+$'"`
	// What runs the program.
	Runtime Runtime
	// The role that the program acts in.
	Role *iam.Role
	// What the function is for, in words.
	Description *string `lumi:"optional"`
	// Variables that the program finds in its environment.
	Environment *Environment `lumi:"optional"`
	// Settings in a file of their own that is laid beside the program.
	Settings *idl.Asset `lumi:"optional,in,deprecated='add the file to code'"`
	// How much memory the program has, in MiB. It gets processor time in proportion.
	MemorySize *float64 `lumi:"optional,default=128,min=128,max=10240,multipleOf=1"`
	// How long a call may take.
	Timeout *aws.Seconds `lumi:"optional,default=3,min=1,max=900"`
	// Where calls end up that fail again and again: a queue or a topic.
	DeadLetterTarget *idl.Resource `lumi:"optional"`
	// The network that the program runs in. It needs none to reach the internet.
	VPC *FunctionVPC `lumi:"optional"`
	// The name under which other things refer to the function.
	ARN aws.ARN `lumi:"out"`
	// A fingerprint of the program that is in place.
	CodeSHA256 string `lumi:"out"`
	// When the function was last changed.
	LastModified *string `lumi:"out"`
}

// FunctionVPC places a Function in a network.
type FunctionVPC struct {
	// The subnets to run in, best one in each availability zone.
	Subnets []ec2.Subnet
	// The firewalls around the function.
	SecurityGroups []ec2.SecurityGroup
}

// An Environment holds variables by name. Their values may be secret.
type Environment struct {
	// Variables that anybody may see.
	Variables *map[string]string `lumi:"optional"`
	// Variables that only the program may see.
	SecretVariables *map[string]string `lumi:"optional,secret"`
}

// Runtime is what runs a program: a language in a version, or a bare machine.
type Runtime string

// The runtimes.
const (
	// Deprecated: use NodeJS22Runtime. Amazon ends support for Node.js 20 on April 30, 2026.
	NodeJS20Runtime  Runtime = "nodejs20.x"
	NodeJS22Runtime  Runtime = "nodejs22.x"
	Python312Runtime Runtime = "python3.12"
	Java21Runtime    Runtime = "java21"
	// A bare machine that runs an executable named `bootstrap`.
	ProvidedRuntime Runtime = "provided.al2023"
)

// MaxMemorySize is the most memory that a function can have, in MiB.
const MaxMemorySize = 10 * 1024
