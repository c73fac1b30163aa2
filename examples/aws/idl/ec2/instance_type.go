package ec2

// An InstanceType is the hardware of a virtual machine: a family, a generation and a size.
type InstanceType string
