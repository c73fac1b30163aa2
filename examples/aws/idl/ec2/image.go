package ec2

import "github.com/lumi-idl/lumi/idl"

// FindImage finds the latest available machine image with a given name.
type FindImage struct {
	idl.Function
	// The owner of the image.
	Owner string `lumi:"pattern='^([0-9]{12}|amazon|aws-marketplace|self)$',says='an account ID, amazon, aws-marketplace or self'"`
	// The pattern of the name, with the wildcards * and ?, such as `al2023-ami-2023.*`.
	Name string `lumi:"minLength=1"`
	// The architecture of the instances.
	Architecture *Architecture `lumi:"optional,default=x86_64"`
	// The image ID, such as `ami-0abcd1234ef567890`.
	ImageID string `lumi:"out"`
	// The full name of the image.
	ImageName string `lumi:"out"`
	// When the image was created.
	CreationDate string `lumi:"out"`
	// The device name of the root volume, such as `/dev/xvda`.
	RootDeviceName *string `lumi:"out,optional"`
}

// Architecture is the instruction set of a processor.
type Architecture string

// The architectures.
const (
	// 64-bit x86.
	X8664 Architecture = "x86_64"
	// 64-bit Arm, as in Graviton processors.
	ARM64 Architecture = "arm64"
)
