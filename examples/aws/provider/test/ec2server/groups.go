package ec2server

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// defaultGroup is the name of the default group in each VPC.
const defaultGroup = "default"

type group struct {
	record
	name, description, vpc string
	ingress, egress        []rule
}

// rule allows traffic from or to a block of addresses. from and to are -1 for protocols without ports.
type rule struct {
	protocol string
	from, to int
	block    netip.Prefix
}

// maxRules is the maximum number of rules per direction.
const maxRules = 60

// addGroup adds a group. As at AWS, a new group allows all outbound traffic.
func (s *Server) addGroup(g *group) {
	g.record = record{id: s.newID("sg"), tags: g.tags, lag: s.Lag}
	if g.tags == nil {
		g.tags = map[string]string{}
	}
	g.egress = []rule{{"-1", -1, -1, netip.MustParsePrefix("0.0.0.0/0")}}
	s.groups[g.id] = g
}

func (s *Server) createSecurityGroup(p params) (any, error) {
	if !p.has("VpcId") {
		return nil, refuse("VPCIdNotSpecified", "No default VPC for this user")
	}
	v, err := s.vpc(p)
	if err != nil {
		return nil, err
	}
	g := &group{name: p.get("GroupName"), description: p.get("GroupDescription"), vpc: v.id}
	switch {
	case g.name == "" || strings.HasPrefix(g.name, "sg-"):
		return nil, refuse("InvalidParameterValue", "Value (%s) for parameter GroupName is invalid.", g.name)
	case g.name == defaultGroup:
		return nil, refuse("InvalidGroup.Reserved", "The security group '%s' is reserved", g.name)
	case g.description == "":
		return nil, refuse("MissingParameter", "The request must contain the parameter GroupDescription")
	}
	for _, other := range s.groups {
		if other.vpc == g.vpc && other.name == g.name {
			return nil, refuse("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", g.name, g.vpc)
		}
	}
	if g.tags, err = p.tagsFor("security-group"); err != nil {
		return nil, err
	}
	s.addGroup(g)
	type response struct {
		ID string `xml:"groupId"`
	}
	return response{g.id}, nil
}

type ipv4XML struct {
	Block string `xml:"cidrIp"`
}

type ipv6XML struct {
	Block string `xml:"cidrIpv6"`
}

type permissionXML struct {
	Protocol string    `xml:"ipProtocol"`
	From     *int      `xml:"fromPort"`
	To       *int      `xml:"toPort"`
	IPv4     []ipv4XML `xml:"ipRanges>item"`
	IPv6     []ipv6XML `xml:"ipv6Ranges>item"`
}

type groupXML struct {
	ID          string          `xml:"groupId"`
	Name        string          `xml:"groupName"`
	Description string          `xml:"groupDescription"`
	VPC         string          `xml:"vpcId"`
	Ingress     []permissionXML `xml:"ipPermissions>item"`
	Egress      []permissionXML `xml:"ipPermissionsEgress>item"`
	Tags        []tag           `xml:"tagSet>item"`
}

// permissions merges rules that differ only in their addresses, as AWS does. It reverses the order of the rules, since AWS
// does not preserve it.
func permissions(rules []rule) []permissionXML {
	var list []permissionXML
	for _, r := range slices.Backward(rules) {
		at := slices.IndexFunc(list, func(p permissionXML) bool {
			return p.Protocol == r.protocol && (p.From == nil || *p.From == r.from && *p.To == r.to)
		})
		if at < 0 {
			at = len(list)
			list = append(list, permissionXML{Protocol: r.protocol})
			if r.protocol != "-1" {
				list[at].From, list[at].To = &r.from, &r.to
			}
		}
		if r.block.Addr().Is6() {
			list[at].IPv6 = append(list[at].IPv6, ipv6XML{r.block.String()})
		} else {
			list[at].IPv4 = append(list[at].IPv4, ipv4XML{r.block.String()})
		}
	}
	return list
}

func (s *Server) describeSecurityGroups(p params) (any, error) {
	picked, err := pick(s, p, "GroupId", "sg", "InvalidGroupId", s.groups, func(g *group) (*record, map[string]string) {
		return &g.record, map[string]string{"group-name": g.name, "description": g.description, "vpc-id": g.vpc}
	})
	if err != nil {
		return nil, err
	}
	var response struct {
		Groups []groupXML `xml:"securityGroupInfo>item"`
	}
	for _, g := range picked {
		response.Groups = append(response.Groups, groupXML{
			g.id, g.name, g.description, g.vpc, permissions(g.ingress), permissions(g.egress), g.tagSet(),
		})
	}
	return response, nil
}

func (s *Server) group(p params) (*group, error) {
	id := p.get("GroupId")
	return s.groups[id], exists(id, "sg", "InvalidGroupId", s.groups)
}

func (s *Server) deleteSecurityGroup(p params) (any, error) {
	g, err := s.group(p)
	switch {
	case err != nil:
		return nil, err
	case g.name == defaultGroup:
		return nil, refuse("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", g.id)
	case s.held[g.id]:
		return nil, refuse("DependencyViolation", "resource %s has a dependent object", g.id)
	}
	delete(s.groups, g.id)
	return success{true}, nil
}

func (s *Server) authorizeIngress(p params) (any, error) { return s.authorize(p, ingress) }
func (s *Server) authorizeEgress(p params) (any, error)  { return s.authorize(p, egress) }
func (s *Server) revokeIngress(p params) (any, error)    { return s.revoke(p, ingress) }
func (s *Server) revokeEgress(p params) (any, error)     { return s.revoke(p, egress) }

func ingress(g *group) *[]rule { return &g.ingress }
func egress(g *group) *[]rule  { return &g.egress }

// authorize adds the rules in a request atomically.
func (s *Server) authorize(p params, direction func(*group) *[]rule) (any, error) {
	g, err := s.group(p)
	if err != nil {
		return nil, err
	}
	added, err := p.rules()
	if err != nil {
		return nil, err
	}
	rules := slices.Clone(*direction(g))
	for _, r := range added {
		if slices.Contains(rules, r) {
			return nil, refuse("InvalidPermission.Duplicate", "the specified rule \"%s\" already exists", r)
		}
		rules = append(rules, r)
	}
	if len(rules) > maxRules {
		return nil, refuse("RulesPerSecurityGroupLimitExceeded",
			"The maximum number of rules per security group has been reached.")
	}
	*direction(g) = rules
	return success{true}, nil
}

// revoke removes the rules in a request atomically.
func (s *Server) revoke(p params, direction func(*group) *[]rule) (any, error) {
	g, err := s.group(p)
	if err != nil {
		return nil, err
	}
	gone, err := p.rules()
	if err != nil {
		return nil, err
	}
	rules := slices.Clone(*direction(g))
	for _, r := range gone {
		at := slices.Index(rules, r)
		if at < 0 {
			return nil, refuse("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		rules = slices.Delete(rules, at, at+1)
	}
	*direction(g) = rules
	return success{true}, nil
}

func (r rule) String() string {
	return fmt.Sprintf("peer: %s, %s, from port: %d, to port: %d, ALLOW", r.block, strings.ToUpper(r.protocol), r.from, r.to)
}

// rules parses the rules in a request.
func (p params) rules() ([]rule, error) {
	var rules []rule
	for _, permission := range p.each("IpPermissions") {
		r := rule{protocol: permission.get("IpProtocol"), from: -1, to: -1}
		r.protocol = cmp.Or(map[string]string{"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6"}[r.protocol], r.protocol)
		if slices.Contains([]string{"tcp", "udp", "icmp", "icmpv6"}, r.protocol) {
			var fromErr, toErr error
			r.from, fromErr = strconv.Atoi(permission.get("FromPort"))
			r.to, toErr = strconv.Atoi(permission.get("ToPort"))
			if fromErr != nil || toErr != nil {
				return nil, refuse("InvalidParameterValue", "Invalid value for portRange. Must specify both from and to ports"+
					" with TCP/UDP.")
			}
		}
		for _, list := range []struct{ name, key string }{{"IpRanges", "CidrIp"}, {"Ipv6Ranges", "CidrIpv6"}} {
			for _, peer := range permission.each(list.name) {
				block, err := netip.ParsePrefix(peer.get(list.key))
				if err != nil || block.Addr().Is6() != (list.key == "CidrIpv6") {
					return nil, refuse("InvalidParameterValue", "CIDR block %s is malformed", peer.get(list.key))
				}
				r.block = block.Masked()
				rules = append(rules, r)
			}
		}
	}
	if len(rules) == 0 {
		return nil, refuse("MissingParameter", "The request must contain the parameter ipPermissions")
	}
	return rules, nil
}
