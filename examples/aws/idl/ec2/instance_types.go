package ec2

// The families of machines.
const (
	t3 = "t3."
	m5 = "m5."
	c5 = "c5."
	r5 = "r5."
)

// The sizes within a family. Each doubles the one before.
const (
	micro  = "micro"
	small  = "small"
	medium = "medium"
	large  = "large"
	xlarge = "xlarge"
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
