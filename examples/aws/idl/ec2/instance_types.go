package ec2

// The families of machines.
const (
	t3 = "t3." // saves up processor time while idle
	m5 = "m5." // has processor and memory in balance
	c5 = "c5." // has more processor
	r5 = "r5." // has more memory
)

// The sizes within a family. Each doubles the one before.
const (
	micro  = "micro"  // 1 GiB
	small  = "small"  // 2 GiB
	medium = "medium" // 4 GiB
	large  = "large"  // 8 GiB, where processor and memory are in balance
	xlarge = "xlarge" // twice as much
)

// Machines that save up processor time while idle and spend it when busy.
const (
	T3Micro  InstanceType = t3 + micro
	T3Small  InstanceType = t3 + small
	T3Medium InstanceType = t3 + medium
	T3Large  InstanceType = t3 + large
)

// Machines with processor and memory in balance.
const (
	M5Large  InstanceType = m5 + large
	M5XLarge InstanceType = m5 + xlarge
)

// Machines with more processor than memory.
const (
	C5Large  InstanceType = c5 + large
	C5XLarge InstanceType = c5 + xlarge
)

// Machines with more memory than processor.
const (
	R5Large  InstanceType = r5 + large
	R5XLarge InstanceType = r5 + xlarge
)
