package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// An Instance is a virtual machine.
type Instance struct {
	idl.NamedResource
	aws.Tagged
	// The ID of the image that the machine starts from, such as `ami-7172b611`.
	ImageID string `lumi:"replaces,pattern='^ami-[0-9a-f]+$'"`
	// How much processor and memory the machine has.
	InstanceType *InstanceType `lumi:"optional"`
	// The subnet that the machine is launched into (or blank for one of the default VPC).
	Subnet *Subnet `lumi:"optional,replaces"`
	// The firewalls around the machine.
	SecurityGroups *[]*SecurityGroup `lumi:"optional"`
	// The address of the machine within its subnet. Amazon chooses one where none is given.
	PrivateIPAddress *string `lumi:"optional,replaces,format=ipv4"`
	// The name of a key pair whose owner may log in.
	KeyName *string `lumi:"optional,replaces"`
	// The role that programs on the machine act in.
	IAMInstanceProfile *iam.InstanceProfile `lumi:"optional"`
	// Disks beside those that the image brings along, in the order of their devices.
	BlockDeviceMappings *[]BlockDeviceMapping `lumi:"optional,replaces"`
	// With whom the machine shares its host.
	Tenancy *Tenancy `lumi:"optional"`
	// What happens when the machine shuts itself down.
	InstanceInitiatedShutdownBehavior *ShutdownBehavior `lumi:"optional,default=stop"`
	// Whether packets need to come from the machine's own address or be sent to it. A router turns this off.
	SourceDestCheck *bool `lumi:"optional"`
	// Whether measurements are taken every minute instead of every five.
	Monitoring *bool `lumi:"optional"`
	// A script or other data that the machine finds when it starts for the first time.
	UserData *string `lumi:"optional,in"`
	// The ID that Amazon gave the instance, such as `i-0abcd1234ef567890`.
	InstanceID string `lumi:"out"`
	// The zone that the machine runs in.
	AvailabilityZone string `lumi:"out"`
	// The machine's name inside its network.
	PrivateDNSName *string `lumi:"out"`
	// The machine's name on the internet, where it has one.
	PublicDNSName *string `lumi:"out,optional"`
	// The machine's address on the internet, where it has one.
	PublicIP *string `lumi:"out,optional"`
}

// A BlockDeviceMapping gives an Instance a disk.
type BlockDeviceMapping struct {
	// The name of the device, such as `/dev/sdh`.
	DeviceName string
	// The volume to create for the device.
	EBS *ebsBlockDevice `lumi:"optional"`
	// The name of a disk of the host itself, such as `ephemeral0`. It is lost with the instance.
	VirtualName *string `lumi:"optional,conflictsWith=ebs"`
}

// ebsBlockDevice describes a volume that lives and dies with an Instance.
type ebsBlockDevice struct {
	// Whether the volume goes when the instance does. It does, unless told otherwise.
	DeleteOnTermination *bool `lumi:"optional"`
	// Whether the data is encrypted at rest.
	Encrypted *bool `lumi:"optional"`
	// How many operations a second the volume sustains, for the types that let one choose.
	IOPS *float64 `lumi:"optional"`
	// The snapshot that the volume starts from.
	SnapshotID *string `lumi:"optional"`
	// The size of the volume in GiB. It may be left out where there is a snapshot.
	VolumeSize *float64 `lumi:"optional"`
	// What the volume is made of.
	VolumeType *VolumeType `lumi:"optional"`
}

// ShutdownBehavior says what becomes of an Instance that shuts itself down.
type ShutdownBehavior string

// What may become of an instance that shuts itself down.
const (
	// It can be started again.
	StopOnShutdown ShutdownBehavior = "stop"
	// It is gone, and so are its disks unless they are set to stay.
	TerminateOnShutdown ShutdownBehavior = "terminate"
)

// VolumeType is what a volume is made of.
type VolumeType string

// The types of volume.
const (
	// Solid state, performance independent of size.
	VolumeTypeGP3 VolumeType = "gp3"
	// Solid state, performance in proportion to size.
	VolumeTypeGP2 VolumeType = "gp2"
	// Solid state, for many small operations that must not wait.
	VolumeTypeIO2 VolumeType = "io2"
	// Magnetic, for long sequential reads and writes.
	VolumeTypeST1 VolumeType = "st1"
	// Magnetic, for data that is seldom touched.
	VolumeTypeSC1 VolumeType = "sc1"
)
