package cluster

// Typed is what a program without lumigl would decode a snapshot of clusters into.
type Typed struct {
	Package   string              `json:"package"`
	Resources map[string]Resource `json:"resources"`
}

// Resource is one of any type.
type Resource struct {
	Type       string     `json:"type"`
	ID         string     `json:"id"`
	Properties Properties `json:"properties"`
}

// Properties are those of all types that clusters have.
type Properties struct {
	CidrBlock            string      `json:"cidrBlock"`
	VpcID                *Reference  `json:"vpcId"`
	GroupDescription     string      `json:"groupDescription"`
	Name                 string      `json:"name"`
	SecurityGroupIngress []Rule      `json:"securityGroupIngress"`
	ImageID              string      `json:"imageId"`
	InstanceType         string      `json:"instanceType"`
	SecurityGroupIDs     []Reference `json:"securityGroupIds"`
	SubnetID             *Reference  `json:"subnetId"`
}

// Rule is one of a security group.
type Rule struct {
	CidrIP     string `json:"cidrIp"`
	FromPort   int    `json:"fromPort"`
	IPProtocol string `json:"ipProtocol"`
	ToPort     int    `json:"toPort"`
}

// Reference is a reference, which is not followed.
type Reference struct {
	Ref string `json:"#ref"`
}
