// Package inventory has the nodes that task graphs run on. They are listed in a file, or are resources of the environment:
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
// The query is one of 'lumi query'. Other values that begin with $ are expressions in YAQL, also those within lists and objects.
// There, $ is the resource: its key (the URN), type, id, name, environment, pkg, module and properties, as in queries. Secrets
// are unknown.
//
// [Data] answers conditions, and tells which values tasks have seen.
package inventory

// Inventory has the nodes and the parameters of an environment.
type Inventory struct {
	// Parameters are those of the environment, as JSON values.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Nodes are sorted by name.
	Nodes []Node `json:"nodes"`
	// Keys are the paths of all keys in the file, also where a query picks no resource.
	Keys []string `json:"-"`
}

// Node is a host that tasks run on.
type Node struct {
	Name string `json:"name"`
	// Local is set if tasks run on this machine, without SSH.
	Local bool `json:"local,omitempty"`
	// Address is a host name or an IP address; Port is that of SSH, 22 if it is 0.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port,omitempty"`
	// User is the user on the node, by default that of this process. Key is the path of a private key, in addition to those of
	// the agent.
	User  string   `json:"user,omitempty"`
	Key   string   `json:"key,omitempty"`
	Roles []string `json:"roles,omitempty"`
	// Parameters are those of the node, which override those of the environment.
	Parameters map[string]any `json:"parameters,omitempty"`
}
