package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Pool shares connections, with at most one connection per node. The zero Pool is ready to use. It is safe for
// concurrent use.
type Pool struct {
	// Home is the directory that contains .ssh. The default is the user's home directory. Agent is the socket of the
	// SSH agent. The default is $SSH_AUTH_SOCK.
	Home, Agent string
	// Environ returns the environment of commands on this machine. The default is the environment of this process.
	Environ func() []string

	// keepalive is the interval between keepalive requests. patience limits the time for which a lost connection is
	// retried.
	keepalive, patience time.Duration
	// slow is the time after which an attempt to connect is announced.
	slow time.Duration

	mu    sync.Mutex
	hosts map[string]pooled
}

type pooled struct {
	node     inventory.Node
	password string
	host     *shell
}

// Access contains what a node needs besides its inventory entry.
type Access struct {
	// Password is the password for sudo. It is empty if sudo needs none.
	Password string
	// Warn is called if the node does not respond. The message tells for how long it is tried. Warn may be nil.
	Warn func(message string)
}

// Open returns the host of a node. Callers must not close it; use [Pool.Close].
//
// Over SSH, settings that the node lacks are read from ~/.ssh/config: HostName, Port, User, IdentityFile, ProxyJump, and
// UserKnownHostsFile. Host keys are checked against the known_hosts file and /etc/ssh/ssh_known_hosts. Errors wrap
// [ErrUnknownHost] or [ErrHostKeyChanged]. The user is authenticated with the key of the node, the keys of the agent, the
// identity files, and ~/.ssh/id_ed25519, id_ecdsa, and id_rsa.
func (p *Pool) Open(ctx context.Context, n *inventory.Node, a Access) (Host, error) {
	at := *n
	at.Roles, at.Tags, at.Parameters = nil, nil, nil
	p.mu.Lock()
	known, found := p.hosts[n.Name]
	if !found || known.password != a.Password || !reflect.DeepEqual(known.node, at) {
		if found {
			_ = known.host.Close()
		}
		h, err := p.new(&at)
		if err == nil && n.Become != "" {
			h.transport = &become{transport: h.transport, node: n.Name, password: a.Password}
		}
		if err != nil {
			p.mu.Unlock()
			return nil, err
		}
		if p.hosts == nil {
			p.hosts = map[string]pooled{}
		}
		known = pooled{at, a.Password, h}
		p.hosts[n.Name] = known
	}
	p.mu.Unlock()
	if a.Warn != nil {
		slow := time.AfterFunc(cmp.Or(p.slow, time.Second), func() {
			a.Warn(fmt.Sprintf("node %s does not respond; trying to connect for up to %v", n.Name, dialTimeout))
		})
		defer slow.Stop()
	}
	return known.host, known.host.connect(ctx)
}

func (p *Pool) new(n *inventory.Node) (*shell, error) {
	s := &shell{transport: local{}, patience: cmp.Or(p.patience, 2*time.Minute)}
	if n.Local {
		s.transport = local{environ: p.Environ}
		return s, nil
	}
	if n.Address == "" {
		return nil, fmt.Errorf("node %s has no address", n.Name)
	}
	routes, err := newRouter(p.Home)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to node %s: %w", n.Name, err)
	}
	target, err := routes.route(*n)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to node %s: %w", n.Name, err)
	}
	s.transport = &remote{
		name: n.Name, target: target, agent: cmp.Or(p.Agent, os.Getenv("SSH_AUTH_SOCK")), keepalive: cmp.Or(p.keepalive, 15*time.Second),
		sessions: make(chan struct{}, 8), urgent: make(chan struct{}, 2), connecting: make(chan struct{}, 1),
	}
	return s, nil
}

// Keys returns the private keys that ~/.ssh/config names.
func (p *Pool) Keys() ([]string, error) {
	r, err := newRouter(p.Home)
	if err != nil {
		return nil, err
	}
	return r.keys(), nil
}

// Close closes all connections.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, h := range p.hosts {
		errs = append(errs, h.host.Close())
	}
	p.hosts = nil
	return errors.Join(errs...)
}
