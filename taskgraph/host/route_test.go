package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/sshd"
)

// configure writes ~/.ssh/config.
func configure(t *testing.T, home string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh/config"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A node is reached through a second sshd, with settings from ~/.ssh/config, and then with settings of the inventory.
func TestJump(t *testing.T) {
	t.Parallel()
	target, bastion := sshd.Start(t), sshd.Start(t)
	home, known := bastion.Home, filepath.Join(t.TempDir(), "known")
	both := slices.Concat(must(os.ReadFile(filepath.Join(home, ".ssh/known_hosts"))), must(os.ReadFile(filepath.Join(target.Home, ".ssh/known_hosts"))))
	if err := os.WriteFile(known, both, 0o600); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(target.Home, ".ssh/id_ed25519")
	port := strconv.Itoa(bastion.Port)
	configure(t, home, "Host db", "  HostName 127.0.0.1", "  Port "+strconv.Itoa(target.Port), "  User "+target.User, "  IdentityFile "+key,
		"Host bastion", "  HostName 127.0.0.1", "  Port "+port, "Host *", "  ProxyJump bastion", "  UserKnownHostsFile "+known, "  IdentityFile ~/absent")
	p := &Pool{Home: home, Agent: "/nonexistent"}
	through := func(n *inventory.Node) {
		t.Helper()
		before := strings.Count(string(must(os.ReadFile(bastion.Log))), "Accepted publickey")
		h, err := p.Open(t.Context(), n, Access{})
		if err != nil {
			t.Fatal(err)
		}
		if exit, out := run(t, h.(*shell), Command{Script: "echo $SSH_CONNECTION"}); exit != 0 || !strings.HasSuffix(out, " "+strconv.Itoa(target.Port)) {
			t.Errorf("Run = %d, %q, want a connection to port %d", exit, out, target.Port)
		}
		if after := strings.Count(string(must(os.ReadFile(bastion.Log))), "Accepted publickey"); after != before+1 {
			t.Errorf("the jump host accepted %d connections, want 1", after-before)
		}
	}
	through(&inventory.Node{Name: "web-1", Address: "db"})
	if diff := cmp.Diff([]string{key, filepath.Join(home, "absent")}, must(p.Keys())); diff != "" {
		t.Errorf("Keys mismatch (-want +got):\n%s", diff)
	}
	configure(t, home, "# empty")
	n := target.Node("web-2")
	n.Key, n.KnownHosts, n.Jump = key, known, bastion.User+"@127.0.0.1:"+port
	through(n)

	// A lost connection is made again through the jump host.
	h := must(p.Open(t.Context(), n, Access{})).(*shell)
	bastion.EndSessions()
	if exit, out := run(t, h, Command{Token: "again", Script: "echo again"}); exit != 0 || out != "again" {
		t.Errorf("Run = %d, %q, want 0, \"again\"", exit, out)
	}

	begin := "cannot connect to node web-2 as " + target.User + "@" + target.Address() + ": jump host "
	n.Jump = "nobody-here@127.0.0.1:" + port
	refused(t, p, n, begin+n.Jump+": no key was accepted; tried "+key+", the agent (unreachable), "+filepath.Join(home, ".ssh/id_ed25519"))
	n.Jump = "me@127.0.0.1:1"
	refused(t, p, n, begin+"me@127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused")
	n.Jump, n.Port = bastion.User+"@127.0.0.1:"+port, 1
	refused(t, p, n, "cannot connect to node web-2 as "+target.User+"@127.0.0.1:1: jump host "+n.Jump+
		" cannot connect to it: ssh: rejected: connect failed (\"Connection refused\")")
	n.Port, n.KnownHosts = target.Port, filepath.Join(t.TempDir(), "absent")
	refused(t, p, n, begin+n.Jump+": unknown host key: got ssh-ed25519 "+bastion.Fingerprint(t)+
		"; if this fingerprint is correct, run: ssh-keyscan -p "+port+" 127.0.0.1 >>"+n.KnownHosts, ErrUnknownHost)
}

func TestRoute(t *testing.T) {
	t.Parallel()
	show := func(h *hop) string {
		text := ""
		for ; h != nil; h = h.via {
			text = strings.TrimSuffix(h.String()+" "+text, " ")
		}
		return text
	}
	for _, test := range []struct {
		config string
		n      inventory.Node
		want   string
	}{
		{"", inventory.Node{Address: "a"}, "root@a:22"},
		{"", inventory.Node{Address: "a", Jump: "x@b:7,[::1]:8, c"}, "x@b:7 root@[::1]:8 root@c:22 root@a:22"},
		{"Host a\nUser u\nPort 5\nHostName %h.example", inventory.Node{Address: "a"}, "u@a.example:5"},
		{"Host a\nUser u\nPort 5", inventory.Node{Address: "a", User: "me", Port: 6}, "me@a:6"},
		{"Host a\nProxyJump b\nHost b\nProxyJump u@c", inventory.Node{Address: "a"}, "u@c:22 root@b:22 root@a:22"},
		{"Host a\nProxyJump b", inventory.Node{Address: "a", Jump: "none"}, "root@a:22"},
		{"Host a\nProxyJump b\nHost b\nProxyJump a", inventory.Node{Address: "a"}, "root@b:22 root@a:22"},
		{"Host *\nProxyJump b\nHost a\nProxyCommand x", inventory.Node{Address: "a"}, "root@b:22 root@a:22"},
		{"Host a\nPort ssh", inventory.Node{Address: "a"}, `FILE: a: Port must be a number from 1 to 65535, got "ssh"`},
		{"Host a\nProxyCommand nc %h %p", inventory.Node{Address: "a"},
			"FILE: a: ProxyCommand is not supported: use ProxyJump, or set jump in the inventory"},
		{"Host a\nProxyJump @", inventory.Node{Address: "a"},
			"FILE: a: ProxyJump: must be [USER@]HOST[:PORT], several separated by commas, or none"},
		{"Host a\nMatch exec true\n", inventory.Node{Address: "a"}, "FILE:2:7: Match Exec is not supported"},
	} {
		p := &Pool{Home: t.TempDir()}
		configure(t, p.Home, test.config)
		r, err := newRouter(p.Home)
		var h *hop
		if err == nil {
			r.user = "root"
			h, err = r.route(test.n)
		}
		got := show(h)
		if err != nil {
			got = strings.ReplaceAll(err.Error(), filepath.Join(p.Home, ".ssh/config"), "FILE")
		}
		if got != test.want {
			t.Errorf("route of %+v with %q = %q, want %q", test.n, test.config, got, test.want)
		}
	}
}
