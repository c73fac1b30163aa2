package ec2server

import (
	"net/netip"
	"strconv"
)

type vpc struct {
	record
	block              netip.Prefix
	tenancy            string
	support, hostnames bool
	isDefault          bool
}

type vpcXML struct {
	ID      string `xml:"vpcId"`
	State   string `xml:"state"`
	Block   string `xml:"cidrBlock"`
	Tenancy string `xml:"instanceTenancy"`
	Tags    []tag  `xml:"tagSet>item"`
}

func (v *vpc) xml(state string) vpcXML {
	return vpcXML{v.id, state, v.block.String(), v.tenancy, v.tagSet()}
}

func (s *Server) createVpc(p params) (any, error) {
	block, err := netip.ParsePrefix(p.get("CidrBlock"))
	if err != nil {
		return nil, refuse("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR"+
			" block.", p.get("CidrBlock"))
	}
	block = block.Masked()
	if block.Bits() < 16 || block.Bits() > 28 || block.Addr().IsLoopback() || block.Addr().IsLinkLocalUnicast() {
		return nil, refuse("InvalidVpc.Range", "The CIDR '%s' is invalid.", block)
	}
	tags, err := p.tagsFor("vpc")
	if err != nil {
		return nil, err
	}
	v := &vpc{record: record{s.newID("vpc"), tags, s.Lag}, block: block, tenancy: "default", support: true}
	if p.has("InstanceTenancy") {
		v.tenancy = p.get("InstanceTenancy")
	}
	s.vpcs[v.id] = v
	s.addGroup(&group{name: defaultGroup, description: "default VPC security group", vpc: v.id})
	type response struct {
		VPC vpcXML `xml:"vpc"`
	}
	return response{v.xml("pending")}, nil
}

// MakeDefault makes a VPC the default VPC of the account.
func (s *Server) MakeDefault(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.vpcs {
		v.isDefault = v.id == id
	}
}

func (s *Server) describeVpcs(p params) (any, error) {
	picked, err := pick(s, p, "VpcId", "vpc", "InvalidVpcID", s.vpcs, func(v *vpc) (*record, map[string]string) {
		return &v.record, map[string]string{
			"cidr": v.block.String(), "vpc-id": v.id, "is-default": strconv.FormatBool(v.isDefault),
		}
	})
	if err != nil {
		return nil, err
	}
	var response struct {
		VPCs []vpcXML `xml:"vpcSet>item"`
	}
	for _, v := range picked {
		response.VPCs = append(response.VPCs, v.xml("available"))
	}
	return response, nil
}

func (s *Server) vpc(p params) (*vpc, error) {
	id := p.get("VpcId")
	return s.vpcs[id], exists(id, "vpc", "InvalidVpcID", s.vpcs)
}

func (s *Server) describeVpcAttribute(p params) (any, error) {
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	type flag struct {
		Value bool `xml:"value"`
	}
	var response struct {
		ID        string `xml:"vpcId"`
		Hostnames *flag  `xml:"enableDnsHostnames"`
		Support   *flag  `xml:"enableDnsSupport"`
	}
	response.ID = v.id
	switch p.get("Attribute") {
	case "enableDnsHostnames":
		response.Hostnames = &flag{v.hostnames}
	case "enableDnsSupport":
		response.Support = &flag{v.support}
	default:
		return nil, refuse("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", p.get("Attribute"))
	}
	return response, nil
}

func (s *Server) modifyVpcAttribute(p params) (any, error) {
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	hostnames, support := p.get("EnableDnsHostnames.Value"), p.get("EnableDnsSupport.Value")
	after := *v
	switch {
	case hostnames != "" && support != "":
		return nil, refuse("InvalidParameterCombination", "Only one attribute can be modified at a time")
	case hostnames != "":
		after.hostnames = hostnames == "true"
	case support != "":
		after.support = support == "true"
	}
	if after.hostnames && !after.support {
		return nil, refuse("InvalidParameterCombination", "DNS hostnames need DNS support")
	}
	v.hostnames, v.support = after.hostnames, after.support
	return success{true}, nil
}

func (s *Server) modifyVpcTenancy(p params) (any, error) {
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	if p.get("InstanceTenancy") != "default" {
		return nil, refuse("InvalidParameterValue", "Value (%s) for parameter instanceTenancy is invalid.",
			p.get("InstanceTenancy"))
	}
	v.tenancy = "default"
	type response struct {
		ReturnValue bool `xml:"returnValue"`
	}
	return response{true}, nil
}

func (s *Server) deleteVpc(p params) (any, error) {
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	inUse := s.held[v.id]
	for _, n := range s.subnets {
		inUse = inUse || n.vpc == v.id
	}
	for _, g := range s.groups {
		inUse = inUse || g.vpc == v.id && g.name != defaultGroup
	}
	if inUse {
		return nil, refuse("DependencyViolation", "The vpc '%s' has dependencies and cannot be deleted.", v.id)
	}
	for id, g := range s.groups {
		if g.vpc == v.id {
			delete(s.groups, id)
		}
	}
	delete(s.vpcs, v.id)
	return success{true}, nil
}

type subnet struct {
	record
	vpc, zone string
	block     netip.Prefix
	public    bool
}

type subnetXML struct {
	ID     string `xml:"subnetId"`
	State  string `xml:"state"`
	VPC    string `xml:"vpcId"`
	Block  string `xml:"cidrBlock"`
	Free   int    `xml:"availableIpAddressCount"`
	Zone   string `xml:"availabilityZone"`
	Public bool   `xml:"mapPublicIpOnLaunch"`
	Tags   []tag  `xml:"tagSet>item"`
}

// reserved is the number of addresses that AWS reserves in each subnet.
const reserved = 5

func (n *subnet) xml(state string) subnetXML {
	free := 1<<(32-n.block.Bits()) - reserved
	return subnetXML{n.id, state, n.vpc, n.block.String(), free, n.zone, n.public, n.tagSet()}
}

func (s *Server) createSubnet(p params) (any, error) {
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	block, parseErr := netip.ParsePrefix(p.get("CidrBlock"))
	block = block.Masked()
	switch {
	case parseErr != nil:
		return nil, refuse("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR"+
			" block.", p.get("CidrBlock"))
	case block.Bits() > 28, block.Bits() < v.block.Bits(), !v.block.Contains(block.Addr()):
		return nil, refuse("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	for _, other := range s.subnets {
		if other.vpc == v.id && other.block.Overlaps(block) {
			return nil, refuse("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
		}
	}
	zone := s.Region + "a"
	if p.has("AvailabilityZone") {
		zone = p.get("AvailabilityZone")
	}
	if zone != s.Region+"a" && zone != s.Region+"b" && zone != s.Region+"c" {
		return nil, refuse("InvalidParameterValue", "Value (%[1]s) for parameter availabilityZone is invalid. Subnets can"+
			" currently only be created in the following availability zones: %[2]sa, %[2]sb, %[2]sc.", zone, s.Region)
	}
	tags, err := p.tagsFor("subnet")
	if err != nil {
		return nil, err
	}
	n := &subnet{record: record{s.newID("subnet"), tags, s.Lag}, vpc: v.id, zone: zone, block: block}
	s.subnets[n.id] = n
	type response struct {
		Subnet subnetXML `xml:"subnet"`
	}
	return response{n.xml("pending")}, nil
}

func (s *Server) describeSubnets(p params) (any, error) {
	picked, err := pick(s, p, "SubnetId", "subnet", "InvalidSubnetID", s.subnets,
		func(n *subnet) (*record, map[string]string) {
			return &n.record, map[string]string{
				"vpc-id": n.vpc, "cidr-block": n.block.String(), "availability-zone": n.zone,
			}
		})
	if err != nil {
		return nil, err
	}
	var response struct {
		Subnets []subnetXML `xml:"subnetSet>item"`
	}
	for _, n := range picked {
		response.Subnets = append(response.Subnets, n.xml("available"))
	}
	return response, nil
}

func (s *Server) subnet(p params) (*subnet, error) {
	id := p.get("SubnetId")
	return s.subnets[id], exists(id, "subnet", "InvalidSubnetID", s.subnets)
}

func (s *Server) modifySubnetAttribute(p params) (any, error) {
	n, err := s.subnet(p)
	if err != nil {
		return nil, err
	}
	public, err := strconv.ParseBool(p.get("MapPublicIpOnLaunch.Value"))
	if err != nil {
		return nil, refuse("MissingParameter", "The request must contain the parameter mapPublicIpOnLaunch")
	}
	n.public = public
	return success{true}, nil
}

func (s *Server) deleteSubnet(p params) (any, error) {
	n, err := s.subnet(p)
	if err != nil {
		return nil, err
	}
	if s.held[n.id] {
		return nil, refuse("DependencyViolation", "The subnet '%s' has dependencies and cannot be deleted.", n.id)
	}
	delete(s.subnets, n.id)
	return success{true}, nil
}
