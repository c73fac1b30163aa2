package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An Instance is a virtual machine.
type Instance struct {
	idl.NamedResource
	aws.Tagged
	// The machine image.
	ImageID string `lumi:"replaces,pattern='^ami-[0-9a-f]+$',says='an image ID such as ami-7172b611'"`
	// The instance type, which determines CPU and memory.
	InstanceType *InstanceType `lumi:"optional"`
	// The subnet of the instance. The default is a subnet of the default VPC.
	Subnet *Subnet `lumi:"optional,replaces"`
	// The security groups of the instance.
	SecurityGroups *[]*SecurityGroup `lumi:"optional"`
	// The private address of the instance in its subnet. By default, Amazon assigns one.
	PrivateIPAddress *string `lumi:"optional,replaces,format=ipv4"`
	// The name of the key pair for logins.
	KeyName *string `lumi:"optional,replaces"`
	// The profile with the role of programs on the instance.
	IAMInstanceProfile *InstanceProfile `lumi:"optional"`
	// Disks in addition to those of the image, in device order.
	BlockDeviceMappings *[]BlockDeviceMapping `lumi:"optional,replaces"`
	// The tenancy of the instance's host.
	Tenancy *Tenancy `lumi:"optional"`
	// What happens when the instance shuts itself down.
	InstanceInitiatedShutdownBehavior *ShutdownBehavior `lumi:"optional,default=stop"`
	// Whether traffic must be from or to the instance's own address. Disable it for routers.
	SourceDestCheck *bool `lumi:"optional"`
	// Whether metrics are collected every minute instead of every five minutes.
	Monitoring *bool `lumi:"optional"`
	// A script or data for the first boot.
	UserData *string `lumi:"optional,in"`
	// The instance ID, such as `i-0abcd1234ef567890`.
	InstanceID string `lumi:"out,fixed"`
	// The availability zone of the instance.
	AvailabilityZone string `lumi:"out,fixed"`
	// The private host name.
	PrivateDNSName *string `lumi:"out"`
	// The public host name, if any.
	PublicDNSName *string `lumi:"out,optional"`
	// The public address, if any.
	PublicIP *string `lumi:"out,optional"`
}

// A BlockDeviceMapping attaches a disk to an Instance.
type BlockDeviceMapping struct {
	// The device name, such as `/dev/sdh`.
	DeviceName string
	// The volume to create for the device.
	EBS *ebsBlockDevice `lumi:"optional"`
	// The name of an ephemeral disk of the host, such as `ephemeral0`. Its data is lost with the instance.
	VirtualName *string `lumi:"optional,conflictsWith=ebs"`
}

// ebsBlockDevice is a volume created with an Instance.
type ebsBlockDevice struct {
	// Whether the volume is deleted with the instance. The default is true.
	DeleteOnTermination *bool `lumi:"optional"`
	// Whether the data is encrypted at rest.
	Encrypted *bool `lumi:"optional"`
	// The provisioned I/O operations per second, for volume types that support them.
	IOPS *int `lumi:"optional"`
	// The snapshot to create the volume from.
	SnapshotID *string `lumi:"optional"`
	// The size of the volume in GiB. Optional with a snapshot.
	VolumeSize *int `lumi:"optional"`
	// The volume type.
	VolumeType *VolumeType `lumi:"optional"`
}

// ShutdownBehavior determines what happens to an Instance that shuts itself down.
type ShutdownBehavior string

// The shutdown behaviors.
const (
	// The instance stops and can be started again.
	StopOnShutdown ShutdownBehavior = "stop"
	// The instance is terminated. Its volumes are deleted unless DeleteOnTermination is false.
	TerminateOnShutdown ShutdownBehavior = "terminate"
)

// VolumeType is the storage type of a volume.
type VolumeType string

// The volume types.
const (
	// General-purpose SSD with performance independent of its size.
	VolumeTypeGP3 VolumeType = "gp3"
	// General-purpose SSD with performance proportional to its size.
	VolumeTypeGP2 VolumeType = "gp2"
	// Provisioned-IOPS SSD for latency-sensitive workloads.
	VolumeTypeIO2 VolumeType = "io2"
	// Throughput-optimized HDD for large sequential reads and writes.
	VolumeTypeST1 VolumeType = "st1"
	// HDD for infrequently accessed data.
	VolumeTypeSC1 VolumeType = "sc1"
)
