package ec2

// An InstanceType is a size of virtual machine: a family, a generation and how much of it.
type InstanceType string
