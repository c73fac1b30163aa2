package cluster

// Typed is the target for decoding a snapshot of clusters without lumigl.
type Typed struct {
	Package   string              `json:"package"`
	Resources map[string]Resource `json:"resources"`
}

// Resource is a resource of any type.
type Resource struct {
	Type       string     `json:"type"`
	ID         string     `json:"id"`
	Properties Properties `json:"properties"`
}

// Properties combines the properties of all resource types in a cluster.
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

// Rule is a security group rule.
type Rule struct {
	CidrIP     string `json:"cidrIp"`
	FromPort   int    `json:"fromPort"`
	IPProtocol string `json:"ipProtocol"`
	ToPort     int    `json:"toPort"`
}

// Reference is an unresolved reference to a resource.
type Reference struct {
	Ref string `json:"#ref"`
}

// TypedPulumi is the target for decoding a Pulumi export of clusters.
type TypedPulumi struct {
	Version    int `json:"version"`
	Deployment struct {
		Manifest  map[string]string `json:"manifest"`
		Resources []PulumiResource  `json:"resources"`
	} `json:"deployment"`
}

// PulumiResource is a resource of any type in a Pulumi export.
type PulumiResource struct {
	URN                  string              `json:"urn"`
	Custom               bool                `json:"custom"`
	ID                   string              `json:"id"`
	Type                 string              `json:"type"`
	Inputs               PulumiProperties    `json:"inputs"`
	Outputs              PulumiProperties    `json:"outputs"`
	Parent               string              `json:"parent"`
	Dependencies         []string            `json:"dependencies"`
	Provider             string              `json:"provider"`
	PropertyDependencies map[string][]string `json:"propertyDependencies"`
	Created              string              `json:"created"`
	Modified             string              `json:"modified"`
}

// PulumiProperties combines the properties of all resource types in a cluster.
type PulumiProperties struct {
	Defaults            []string     `json:"__defaults"`
	ID                  string       `json:"id"`
	CidrBlock           string       `json:"cidrBlock"`
	VpcID               string       `json:"vpcId"`
	Description         string       `json:"description"`
	Name                string       `json:"name"`
	Ingress             []PulumiRule `json:"ingress"`
	Ami                 string       `json:"ami"`
	InstanceType        string       `json:"instanceType"`
	SubnetID            string       `json:"subnetId"`
	VpcSecurityGroupIDs []string     `json:"vpcSecurityGroupIds"`
}

// PulumiRule is a security group rule.
type PulumiRule struct {
	Defaults   []string `json:"__defaults"`
	CidrBlocks []string `json:"cidrBlocks"`
	FromPort   int      `json:"fromPort"`
	Protocol   string   `json:"protocol"`
	ToPort     int      `json:"toPort"`
}

// TypedOpenTofu is the target for decoding an OpenTofu state of clusters.
type TypedOpenTofu struct {
	Version          int                 `json:"version"`
	TerraformVersion string              `json:"terraform_version"`
	Serial           uint64              `json:"serial"`
	Lineage          string              `json:"lineage"`
	Outputs          map[string]struct{} `json:"outputs"`
	Resources        []OpenTofuResource  `json:"resources"`
	CheckResults     []struct{}          `json:"check_results"`
}

// OpenTofuResource is a resource of any type in an OpenTofu state.
type OpenTofuResource struct {
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Provider  string `json:"provider"`
	Instances []struct {
		SchemaVersion int                `json:"schema_version"`
		Attributes    OpenTofuAttributes `json:"attributes"`
		Sensitive     []struct{}         `json:"sensitive_attributes"`
		Private       string             `json:"private"`
		Dependencies  []string           `json:"dependencies"`
	} `json:"instances"`
}

// OpenTofuAttributes combines the attributes of all resource types in a cluster.
type OpenTofuAttributes struct {
	ARN                 string            `json:"arn"`
	ID                  string            `json:"id"`
	CidrBlock           string            `json:"cidr_block"`
	EnableDNSSupport    bool              `json:"enable_dns_support"`
	Tags                map[string]string `json:"tags"`
	VpcID               string            `json:"vpc_id"`
	Description         string            `json:"description"`
	Name                string            `json:"name"`
	Ingress             []OpenTofuRule    `json:"ingress"`
	Ami                 string            `json:"ami"`
	InstanceType        string            `json:"instance_type"`
	SubnetID            string            `json:"subnet_id"`
	VpcSecurityGroupIDs []string          `json:"vpc_security_group_ids"`
}

// OpenTofuRule is a security group rule.
type OpenTofuRule struct {
	CidrBlocks  []string `json:"cidr_blocks"`
	Description string   `json:"description"`
	FromPort    int      `json:"from_port"`
	Protocol    string   `json:"protocol"`
	ToPort      int      `json:"to_port"`
}
