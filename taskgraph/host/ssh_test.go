package host

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/sshd"
)

// refused checks the error returned by Open for a node.
func refused(t *testing.T, p *Pool, n *inventory.Node, want string, wraps ...error) {
	t.Helper()
	_, err := (&Pool{Home: p.Home, Agent: p.Agent}).Open(t.Context(), n, Access{})
	if err == nil || err.Error() != want {
		t.Errorf("Open =\n%v\nwant\n%s", err, want)
	}
	for _, other := range wraps {
		if !errors.Is(err, other) {
			t.Errorf("Open = %v, want an error wrapping %v", err, other)
		}
	}
}

func TestHostKeys(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	node, known := s.Node("web-1"), filepath.Join(s.Home, ".ssh/known_hosts")
	p := &Pool{Home: s.Home, Agent: "/nonexistent"}
	begin := "cannot connect to node web-1 as " + s.User + "@" + s.Address() + ": "
	port := strconv.Itoa(s.Port)
	right := must(os.ReadFile(known))

	if err := os.Remove(known); err != nil {
		t.Fatal(err)
	}
	command := "ssh-keyscan -p " + port + " 127.0.0.1 >>" + known
	refused(t, p, node, begin+"unknown host key: got ssh-ed25519 "+s.Fingerprint(t)+
		"; if this fingerprint is correct, run: "+command, ErrUnknownHost)
	// The suggested command works.
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Errorf("suggested command: %v\n%s", err, out)
	}
	if _, err := p.Open(t.Context(), node, Access{}); err != nil {
		t.Error(err)
	}

	old := sshd.Key(t, filepath.Join(t.TempDir(), "key"))
	line := "[127.0.0.1]:" + port + " " + string(ssh.MarshalAuthorizedKey(old))
	if err := os.WriteFile(known, []byte("# comment\n"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, p, node, begin+"host key has changed: got ssh-ed25519 "+s.Fingerprint(t)+", but "+known+
		":2 has "+ssh.FingerprintSHA256(old)+"; if the node was reinstalled, run: ssh-keygen -f "+known+" -R '[127.0.0.1]:"+port+"'", ErrHostKeyChanged)
	if err := os.WriteFile(known, []byte("@revoked "+string(right)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, p, node, begin+"host key is revoked in "+known+":1")
	if err := os.WriteFile(known, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, p, node, begin+"knownhosts: "+known+":1: knownhosts: missing host pattern")
}

// Only the key that clients do not prefer is known, of the two keys of the server.
func TestHostKeyAlgorithms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rsa")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	s := sshd.Start(t, "HostKey "+file)
	line := "[127.0.0.1]:" + strconv.Itoa(s.Port) + " " + string(must(os.ReadFile(file+".pub")))
	if err := os.WriteFile(filepath.Join(s.Home, ".ssh/known_hosts"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	over(t, s)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	own := filepath.Join(s.Home, ".ssh/id_ed25519")
	begin := func(user string) string { return "cannot connect to node web-1 as " + user + "@" + s.Address() + ": " }
	p := &Pool{Home: s.Home}

	// Another user.
	n := s.Node("web-1")
	n.User = "nobody-here"
	refused(t, p, n, begin(n.User)+"no key was accepted; tried "+own)
	// A key in another folder, and a file that does not contain a key.
	n = s.Node("web-1")
	n.Key = "~/key"
	if err := os.Rename(own, filepath.Join(s.Home, "key")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), n, Access{}); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(own, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, p, n, begin(s.User)+own+" is not a valid SSH private key")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	n.Key = "/no/such/key"
	refused(t, p, n, begin(s.User)+"cannot read the key: open /no/such/key: no such file or directory")
	n.Key = ""
	refused(t, p, n, begin(s.User)+"no key was accepted")
	refused(t, &Pool{Home: s.Home, Agent: "/no/such"}, n, begin(s.User)+"no key was accepted; tried the agent (unreachable)")
	// A key with a passphrase.
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block := must(ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret")))
	if err := os.WriteFile(own, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, p, n, begin(s.User)+"no key was accepted; "+own+" is encrypted, so add it to an SSH agent: ssh-add "+own)
	// A key from the agent.
	socket := filepath.Join(t.TempDir(), "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	// ssh-add exits with status 2 until the agent is listening.
	add := exec.Command("sh", "-c", "while ssh-add -l >/dev/null 2>&1; [ $? = 2 ]; do sleep .01; done; ssh-add -q "+filepath.Join(s.Home, "key"))
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %v\n%s", err, out)
	}
	if _, err := (&Pool{Home: s.Home, Agent: socket}).Open(t.Context(), n, Access{}); err != nil {
		t.Error(err)
	}
	n.User = "nobody-here"
	refused(t, &Pool{Home: s.Home, Agent: socket}, n, begin(n.User)+"no key was accepted; tried the agent (1); "+own+
		" is encrypted, so add it to an SSH agent: ssh-add "+own)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	p := &Pool{Home: t.TempDir(), Agent: "/nonexistent"}
	refused(t, p, &inventory.Node{Name: "web-1"}, "node web-1 has no address")
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	address := l.Addr().(*net.TCPAddr)
	n := &inventory.Node{Name: "web-1", Address: "127.0.0.1", Port: address.Port, User: "me"}
	// A server that accepts connections but does not respond.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p.slow = time.Millisecond
	warning := make(chan string, 1)
	if _, err := p.Open(ctx, n, Access{Warn: func(message string) { warning <- message }}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open = %v, want %v", err, context.DeadlineExceeded)
	}
	if got, want := <-warning, "node web-1 does not respond; trying to connect for up to 15s"; got != want {
		t.Errorf("warning = %q, want %q", got, want)
	}
	_ = l.Close()
	// Nothing listens on port 1. The port that was just closed might still be held open by a child process of a
	// concurrent test.
	n.Port = 1
	refused(t, p, n, "cannot connect to node web-1 as me@127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused")
}

// A hundred concurrent commands share a connection. This exceeds the server's limit on sessions.
func TestPool(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t, "MaxSessions 3")
	p := &Pool{Home: s.Home, Agent: "/nonexistent"}
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			h, err := p.Open(t.Context(), s.Node("web-1"), Access{})
			if err != nil {
				t.Error(err)
				return
			}
			if exit, out, err := try(t.Context(), h.(*shell), Command{Script: "echo " + strconv.Itoa(i)}); exit != 0 || out != strconv.Itoa(i) {
				t.Errorf("Run = %d, %q, %v, want 0, \"%d\"", exit, out, err, i)
			}
		})
	}
	group.Wait()
	if n := strings.Count(string(must(os.ReadFile(s.Log))), "Accepted publickey"); n != 1 {
		t.Errorf("%d connections were made, want 1", n)
	}
	other := s.Node("web-1")
	other.User = "nobody-here"
	if _, err := p.Open(t.Context(), other, Access{}); err == nil {
		t.Error("Open for another user returned nil, want an error")
	}
	h := must(p.Open(t.Context(), s.Node("web-1"), Access{}))
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.Run(t.Context(), Command{Script: "true"}); err == nil || err.Error() != "node web-1: connection closed" {
		t.Errorf("Run after Close = %v, want node web-1: connection closed", err)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := over(t, sshd.Start(t, "MaxSessions 0"))
	want := "node web-1 refused a session: open failed (see MaxSessions in its sshd_config)"
	if _, _, err := try(t.Context(), h, Command{Script: "true"}); err == nil || err.Error() != want {
		t.Errorf("Run = %v, want %s", err, want)
	}
}

// Output of the user's shell startup files is discarded, even after a reconnect.
func TestStartupFileOutput(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t, `ForceCommand printf 'welcome\nto this node'; eval "$SSH_ORIGINAL_COMMAND"`)
	h := over(t, s)
	script := "for i in 1 2 3 4; do echo line $i; sleep .1; done"
	for _, token := range []string{"", "a"} {
		var out []string
		exit, err := h.Run(t.Context(), Command{Token: token, Script: script, Output: func(line string) {
			if out = append(out, line); len(out) == 2 && token != "" {
				s.EndSessions()
			}
		}})
		if got := strings.Join(out, ","); exit != 0 || err != nil || got != "line 1,line 2,line 3,line 4" {
			t.Errorf("token %q: Run = %d, %v, %q, want 0 and lines 1 to 4", token, exit, err, got)
		}
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := h.Write(t.Context(), name, 0o644, strings.NewReader("content")); err != nil {
		t.Error(err)
	}
	if text, err := h.Read(t.Context(), name); err != nil || string(text) != "content" {
		t.Errorf("Read = %q, %v, want \"content\"", text, err)
	}
}

// TestConnectionLost kills the session processes of sshd during a command, and then the server.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	h := over(t, s)
	count := filepath.Join(t.TempDir(), "count")
	c := Command{Token: "a", Script: "echo run >>" + quote(count) + "; for i in 1 2 3 4 5 6; do echo line $i; sleep .2; done; exit 6"}
	var out []string
	c.Output = func(line string) {
		out = append(out, line)
		switch line {
		case "line 2":
			s.EndSessions()
		case "line 4":
			s.Restart(t)
		}
	}
	exit, err := h.Run(t.Context(), c)
	if exit != 6 || err != nil || strings.Join(out, ",") != "line 1,line 2,line 3,line 4,line 5,line 6" {
		t.Errorf("Run = %d, %v, %q, want 6 and lines 1 to 6", exit, err, out)
	}
	if text := must(os.ReadFile(count)); string(text) != "run\n" {
		t.Errorf("the command ran %d times, want once", strings.Count(string(text), "run"))
	}
	// A command without a token is not retried.
	var once sync.Once
	c = Command{Script: "echo begin; sleep 5", Output: func(string) { once.Do(s.EndSessions) }}
	_, err = h.Run(t.Context(), c)
	if want := "node web-1: connection lost: wait: remote command exited without exit status or exit signal"; err == nil || err.Error() != want {
		t.Errorf("Run = %v, want %s", err, want)
	}
}

// TestCanceled cancels a command while it is running, and one before it starts.
func TestCanceled(t *testing.T) {
	t.Parallel()
	h := over(t, sshd.Start(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := Command{Script: "echo; exec sleep 60", Output: func(string) { cancel() }}
	for range 2 {
		if _, err := h.Run(ctx, c); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want %v", err, context.Canceled)
		}
	}
	if err := h.transport.(*remote).connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("connect = %v, want %v", err, context.Canceled)
	}
}

// Run gives up on a server that does not come back.
func TestServerGone(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	h := over(t, s)
	h.patience = 300 * time.Millisecond
	var once sync.Once
	var warnings []string
	_, err := h.Run(t.Context(), Command{
		Token: "a", Script: "echo; sleep 2", Output: func(string) { once.Do(s.Stop) }, Warn: func(message string) { warnings = append(warnings, message) },
	})
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "node web-1: connection lost: ") ||
		!strings.HasSuffix(warnings[0], "; trying to reconnect for up to 300ms") {
		t.Errorf("warnings = %q, want one about reconnecting for up to 300ms", warnings)
	}
	if !errors.Is(err, ErrUnreached) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Run = %v, want %v because of a refused connection", err, ErrUnreached)
	}
}

// TestUnresponsiveServer simulates a network that begins to drop all packets.
func TestUnresponsiveServer(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	var silent atomic.Bool
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = l.Close() })
	pass := func(to, from net.Conn) {
		b := make([]byte, 32<<10)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			if !silent.Load() {
				_, _ = to.Write(b[:n])
			}
		}
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", s.Address())
			if err != nil {
				return
			}
			t.Cleanup(func() { _, _ = in.Close(), out.Close() })
			go pass(in, out)
			go pass(out, in)
		}
	}()
	p := &Pool{Home: s.Home, Agent: "/nonexistent", keepalive: 100 * time.Millisecond}
	n := s.Node("web-1")
	n.Port = l.Addr().(*net.TCPAddr).Port
	known := filepath.Join(s.Home, ".ssh/known_hosts")
	text := strings.ReplaceAll(string(must(os.ReadFile(known))), strconv.Itoa(s.Port), strconv.Itoa(n.Port))
	if err := os.WriteFile(known, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := must(p.Open(t.Context(), n, Access{}))
	time.Sleep(300 * time.Millisecond)
	begun := time.Now()
	_, err := h.Run(t.Context(), Command{Script: "echo; sleep 10", Output: func(string) { silent.Store(true) }})
	if !errors.Is(err, errLost) || time.Since(begun) > 3*time.Second {
		t.Errorf("Run = %v after %v, want %v within 3s", err, time.Since(begun), errLost)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	machines(t, func(t *testing.T, h *shell, _ string) {
		folder := t.TempDir()
		name := filepath.Join(folder, "new", "it's a 'file'")
		content := make([]byte, 5<<20)
		_, _ = rand.Read(content)
		for _, mode := range []os.FileMode{0o600, 0o755} {
			if err := h.Write(t.Context(), name, mode, strings.NewReader(string(content))); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(name)
			if err != nil || info.Mode() != mode {
				t.Errorf("mode = %v, %v, want %v", info.Mode(), err, mode)
			}
			content = content[:len(content)-1]
		}
		got, err := h.Read(t.Context(), name)
		if err != nil || len(got) != len(content)+1 || string(got[:100]) != string(content[:100]) {
			t.Errorf("Read = %d bytes, %v, want %d", len(got), err, len(content)+1)
		}
		// If reading the content fails, the file does not change.
		broken := io.MultiReader(strings.NewReader("part"), &failing{})
		err = h.Write(t.Context(), name, 0o644, broken)
		if want := "cannot write " + name + ": broken source"; err == nil || err.Error() != want {
			t.Errorf("Write = %v, want %s", err, want)
		}
		err = h.Write(t.Context(), folder, 0o644, strings.NewReader(""))
		if want := "cannot write " + folder + ": exit status 1 (it is a directory)"; err == nil || err.Error() != want {
			t.Errorf("Write to a folder = %v, want %s", err, want)
		}
		if after := must(h.Read(t.Context(), name)); string(after) != string(got) {
			t.Error("a failed Write changed the file")
		}
		if files := must(os.ReadDir(filepath.Dir(name))); len(files) != 1 {
			t.Errorf("files in the folder = %v, want no temporary files", files)
		}
		if _, err := h.Read(t.Context(), filepath.Join(folder, "absent")); err == nil || !strings.HasPrefix(err.Error(), "cannot read "+folder) {
			t.Errorf("Read of a missing file = %v, want an error", err)
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken source") }

// TestWriteLost drops the connection while a file is being written.
func TestWriteLost(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	h := over(t, s)
	name := filepath.Join(t.TempDir(), "file")
	if err := h.Write(t.Context(), name, 0o644, strings.NewReader("before")); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write(make([]byte, 1<<20))
		s.EndSessions()
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}()
	err := h.Write(t.Context(), name, 0o644, r)
	_ = r.Close()
	if !errors.Is(err, errLost) {
		t.Errorf("Write = %v, want %v", err, errLost)
	}
	if text := must(h.Read(t.Context(), name)); string(text) != "before" {
		t.Errorf("Read = %q, want \"before\"", text)
	}
}
