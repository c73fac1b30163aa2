// Package inventory loads the nodes that task graphs run on. They are listed in a file, or selected from the resources
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
// The query is in the language of 'lumi query'. Other values that begin with $, including in lists and objects, are
// YAQL expressions, in which $ is the resource: its key (the URN), type, id, name, environment, pkg, module, and
// properties, as in queries. Secrets are unknown.
//
// [Data] evaluates conditions and digests the values that tasks depend on.
package inventory

// Inventory holds the nodes and parameters of an environment.
type Inventory struct {
	// Parameters are the JSON values of the environment's parameters.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Nodes are sorted by name.
	Nodes []Node `json:"nodes"`
	// Keys lists the paths of all keys in the file, even of entries whose query selects no resource.
	Keys []string `json:"-"`
}

// Node is a host that tasks run on.
type Node struct {
	Name string `json:"name"`
	// Local means that tasks run on this machine, without SSH.
	Local bool `json:"local,omitempty"`
	// Address is a host name or IP address, Port the SSH port; 0 means 22.
	Address string `json:"address,omitempty"`
	Port    int    `json:"port,omitempty"`
	// User is the remote user; the default is the user of this process. Key is the path of a private key, tried in
	// addition to the keys of the agent.
	User  string   `json:"user,omitempty"`
	Key   string   `json:"key,omitempty"`
	Roles []string `json:"roles,omitempty"`
	// Parameters override the parameters of the environment.
	Parameters map[string]any `json:"parameters,omitempty"`
}
