package lambda

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/ec2"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A Function runs code on demand and costs nothing while idle.
type Function struct {
	idl.NamedResource `lumi:"maxLength=64,pattern='^[A-Za-z0-9_-]+$',says='letters, digits, _, and -'"`
	aws.Tagged
	// The code and its dependencies. Amazon does not return them.
	Code *idl.Archive `lumi:"in"`
	// The entry point: a file and a function in it, such as `index.handler`.
	Handler string `lumi:"maxLength=128,pattern='^[^\\t\\n\\f\\r ]+$'"`
	// The runtime of the code.
	Runtime Runtime
	// The role that the code runs as.
	Role *iam.Role
	// A description of the function.
	Description *string `lumi:"optional"`
	// Environment variables.
	Environment *Environment `lumi:"optional"`
	// Settings in a separate file next to the code.
	Settings *idl.Asset `lumi:"optional,in,deprecated='add the file to code'"`
	// The memory in MiB. CPU time is proportional to it.
	MemorySize *int `lumi:"optional,default=128,min=128,max=10240"`
	// The timeout of a call.
	Timeout *aws.Seconds `lumi:"optional,default=3,min=1,max=900"`
	// The target of calls that fail repeatedly: a queue or a topic.
	DeadLetterTarget *idl.Resource `lumi:"optional"`
	// The VPC of the function. Not needed for internet access.
	VPC *FunctionVPC `lumi:"optional"`
	// The ARN of the function.
	ARN aws.ARN `lumi:"out,fixed"`
	// A hash of the deployed code.
	CodeSHA256 string `lumi:"out"`
	// The time of the last change.
	LastModified *string `lumi:"out"`
}

// FunctionVPC connects a Function to a VPC.
type FunctionVPC struct {
	// The subnets, ideally one per availability zone.
	Subnets []ec2.Subnet
	// The security groups.
	SecurityGroups []ec2.SecurityGroup
}

// An Environment contains variables by name, some of them secret.
type Environment struct {
	// Plain variables.
	Variables *map[string]string `lumi:"optional"`
	// Secret variables.
	SecretVariables *map[string]string `lumi:"optional,secret"`
}

// Runtime is the execution environment of a function: a language version or a bare machine.
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

// MaxMemorySize is the maximum memory of a function, in MiB.
const MaxMemorySize = 10 * 1024
