package ec2

// The instance families.
const (
	t3 = "t3." // accrues CPU credits while idle
	m5 = "m5." // balances CPU and memory
	c5 = "c5." // optimized for CPU
	r5 = "r5." // optimized for memory
)

// The sizes in a family. Each has twice the resources of the previous one.
const (
	micro  = "micro"  // 1 GiB
	small  = "small"  // 2 GiB
	medium = "medium" // 4 GiB
	large  = "large"  // 8 GiB in families that balance CPU and memory
	xlarge = "xlarge" // twice as much as large
)

// Burstable instances, which accrue CPU credits while idle.
const (
	T3Micro  InstanceType = t3 + micro
	T3Small  InstanceType = t3 + small
	T3Medium InstanceType = t3 + medium
	T3Large  InstanceType = t3 + large
)

// Instances that balance CPU and memory.
const (
	M5Large  InstanceType = m5 + large
	M5XLarge InstanceType = m5 + xlarge
)

// CPU-optimized instances.
const (
	C5Large  InstanceType = c5 + large
	C5XLarge InstanceType = c5 + xlarge
)

// Memory-optimized instances.
const (
	R5Large  InstanceType = r5 + large
	R5XLarge InstanceType = r5 + xlarge
)
