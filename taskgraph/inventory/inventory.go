// Package inventory loads the nodes on which task graphs run. Nodes are listed in a file or selected from the resources
// of the environment:
//
//	parameters: {version: 1.4}
//	nodes:
//	  db-1: {address: 10.0.0.5, user: admin, roles: [db]}
//	  here: {connection: local, roles: [builder]}
//	resources:
//	- query: type == "aws:ec2:Instance"
//	  name: $.name
//	  address: $.properties.publicIp
//	  roles: $.properties.tags.role
//
// The query is written in the language of 'lumi query'. Other strings that begin with $, even in lists and objects, are
// YAQL expressions in which $ is the resource. As in queries, it has the fields key (the URN), type, id, name,
// environment, pkg, module, and properties. Secrets are unknown.
//
// [Data] evaluates conditions and computes digests of the values that tasks depend on.
package inventory

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/taskgraph"
)

// Inventory contains the nodes and parameters of an environment.
type Inventory struct {
	// Parameters contains the parameters of the environment as JSON values.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Nodes are sorted by name.
	Nodes []Node `json:"nodes"`
	// Keys lists the paths of all keys in the file, even in entries whose query selects no resources.
	Keys []string `json:"-"`
}

// Node is a host on which tasks run.
type Node struct {
	Name string `json:"name"`
	// Local means that tasks run on this machine without SSH.
	Local bool `json:"local,omitempty"`
	// Address is a host name or an IP address. Port is the SSH port; 0 means the default.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port,omitempty"`
	// User is the remote user. The default is the user of this process. Key is the path of a private key, which is
	// tried in addition to the keys of the agent.
	User string `json:"user,omitempty"`
	Key  string `json:"key,omitempty"`
	// Jump lists the jump hosts in the form of [ParseJump], and KnownHosts is the path of a known_hosts file. Like port,
	// user, and key, they replace settings in ~/.ssh/config.
	Jump       string `json:"jump,omitempty"`
	KnownHosts string `json:"known_hosts,omitempty"`
	// Become is "sudo" if tasks run as root, or "". Secret is the name of the secret configuration that contains the
	// password for sudo. It is empty if sudo needs no password.
	Become string   `json:"become,omitempty"`
	Secret string   `json:"become_secret,omitempty"`
	Roles  []string `json:"roles,omitempty"`
	// Tags select the node for tasks with tags, in addition to its roles.
	Tags []string `json:"tags,omitempty"`
	// Parameters overrides the parameters of the environment.
	Parameters map[string]any `json:"parameters,omitempty"`
}

// Labels returns the labels of the node for [taskgraph.Selector.Match].
func (n *Node) Labels() []string {
	labels := n.Roles[:len(n.Roles):len(n.Roles)]
	for _, tag := range n.Tags {
		labels = append(labels, taskgraph.Tag(tag))
	}
	return labels
}

const jumpForm = "[USER@]HOST[:PORT], several separated by commas, or none"

// ParseJump parses the jump hosts of a node in the form of OpenSSH's ProxyJump: [USER@]HOST[:PORT], separated by commas.
// "none" returns nil.
func ParseJump(text string) (hosts []Node, err error) {
	if text == "none" {
		return nil, nil
	}
	for spec := range strings.SplitSeq(text, ",") {
		var n Node
		spec = strings.TrimPrefix(strings.TrimSpace(spec), "ssh://")
		at := strings.LastIndexByte(spec, '@')
		n.User, n.Address = spec[:max(at, 0)], spec[at+1:]
		if host, port, err := net.SplitHostPort(n.Address); err == nil {
			number, _ := strconv.ParseUint(port, 10, 16)
			if n.Address, n.Port = host, int(number); number == 0 {
				n.Address = "" // reported below
			}
		}
		n.Address = strings.TrimSuffix(strings.TrimPrefix(n.Address, "["), "]")
		if n.Address == "" || at == 0 || strings.ContainsAny(n.Address, " /") {
			return nil, errors.New("must be " + jumpForm)
		}
		hosts = append(hosts, n)
	}
	return hosts, nil
}
