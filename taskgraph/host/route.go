package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kevinburke/ssh_config"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// hop is an SSH server: a node, or a jump host on the route to it.
type hop struct {
	user, host string
	port       int
	// keys lists private keys. Optional ones are skipped if they do not exist.
	keys, optional []string
	// known lists the known_hosts files. Keys of unknown hosts belong in the first one.
	known []string
	// via is the jump host before this hop, or nil.
	via *hop
}

func (h *hop) address() string { return net.JoinHostPort(h.host, strconv.Itoa(h.port)) }

func (h *hop) String() string { return h.user + "@" + h.address() }

// router resolves hosts with the user's configuration of OpenSSH.
type router struct {
	config           *ssh_config.Config
	file, home, user string
}

// position matches the position at the beginning of an error of package ssh_config.
var position = regexp.MustCompile(`^\((\d+), (\d+)\): (ssh_config: )?`)

// newRouter reads .ssh/config in a home directory, which may be missing. The default is the user's home directory.
func newRouter(home string) (*router, error) {
	r := &router{home: home}
	if r.home == "" {
		var err error
		if r.home, err = os.UserHomeDir(); err != nil {
			return nil, err
		}
	}
	r.file = filepath.Join(r.home, ".ssh", "config")
	text, err := os.ReadFile(r.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if r.config, err = ssh_config.DecodeBytes(text); err != nil {
		return nil, fmt.Errorf("%s:%s", r.file, position.ReplaceAllString(err.Error(), "$1:$2: "))
	}
	if u, err := user.Current(); err == nil {
		r.user = u.Username
	}
	return r, nil
}

func (r *router) get(alias, key string) string {
	v, _ := r.config.Get(alias, key) // fails only for syntax trees that the parser does not return
	if strings.EqualFold(v, "none") {
		return ""
	}
	return v
}

func (r *router) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(r.home, rest)
	}
	return name
}

// route returns the hop for a node and its jump hosts. Settings of the node take precedence over the configuration of
// OpenSSH for its address. seen lists the addresses that led here.
func (r *router) route(n inventory.Node, seen ...string) (*hop, error) {
	alias := n.Address
	h := &hop{user: cmp.Or(n.User, r.get(alias, "User"), r.user), host: alias, port: n.Port}
	if name := r.get(alias, "HostName"); name != "" {
		h.host = strings.NewReplacer("%h", alias, "%%", "%").Replace(name)
	}
	if h.port == 0 {
		text := cmp.Or(r.get(alias, "Port"), "22")
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return nil, fmt.Errorf("%s: %s: Port must be a number from 1 to 65535, got %q", r.file, alias, text)
		}
		h.port = int(port)
	}
	if h.user == "" {
		return nil, errors.New("the user is unknown: set user in the inventory")
	}
	if n.Key != "" {
		h.keys = []string{r.path(n.Key)}
	}
	files, _ := r.config.GetAll(alias, "IdentityFile")
	for _, name := range append(files, "~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa") {
		h.optional = append(h.optional, r.path(name))
	}
	for name := range strings.FieldsSeq(cmp.Or(r.get(alias, "UserKnownHostsFile"), "~/.ssh/known_hosts")) {
		h.known = append(h.known, r.path(name))
	}
	if n.KnownHosts != "" {
		h.known = []string{r.path(n.KnownHosts)}
	}
	return h, r.jump(h, n, append(seen, alias))
}

// jump sets the jump hosts before h. Only the first one may have jump hosts of its own in the configuration of OpenSSH.
func (r *router) jump(h *hop, n inventory.Node, seen []string) error {
	jump := cmp.Or(n.Jump, r.get(n.Address, "ProxyJump"))
	switch {
	case strings.EqualFold(jump, "none"):
		return nil
	case jump == "" && r.get(n.Address, "ProxyCommand") != "":
		return fmt.Errorf("%s: %s: ProxyCommand is not supported: use ProxyJump, or set jump in the inventory", r.file, n.Address)
	case jump == "":
		return nil
	}
	hosts, err := inventory.ParseJump(jump)
	if err != nil {
		return fmt.Errorf("%s: %s: ProxyJump: %w", r.file, n.Address, err)
	}
	if n.Jump == "" && slices.ContainsFunc(hosts, func(j inventory.Node) bool { return slices.Contains(seen, j.Address) }) {
		return nil // "Host *" also matches the jump host
	}
	for i, j := range hosts {
		j.Key, j.KnownHosts = n.Key, n.KnownHosts
		if i > 0 {
			j.Jump = "none"
		}
		next, err := r.route(j, seen...)
		if err != nil {
			return err
		}
		if i > 0 {
			next.via = h.via
		}
		h.via = next
	}
	return nil
}

// keys returns the private keys that the configuration names.
func (r *router) keys() (files []string) {
	for _, host := range r.config.Hosts {
		for _, node := range host.Nodes {
			if kv, ok := node.(*ssh_config.KV); ok && strings.EqualFold(kv.Key, "IdentityFile") {
				files = append(files, r.path(kv.Value))
			}
		}
	}
	return files
}
