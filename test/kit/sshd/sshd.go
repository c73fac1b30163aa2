// Package sshd starts OpenSSH servers on the loopback interface for tests.
package sshd

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

const program = "/usr/sbin/sshd"

// Server is a running sshd.
type Server struct {
	Port int
	// Home is the home folder of clients and sessions. Its .ssh folder contains known_hosts and id_ed25519. State is
	// XDG_STATE_HOME in sessions, and Bin is the first folder in their PATH.
	Home, State, Bin string
	// User is the name of the current user, whom the server accepts.
	User string
	// Log is the path of sshd's log.
	Log    string
	folder string
	// overlay lists files that the server and its sessions see in place of others.
	overlay map[string]string
	cmd     *exec.Cmd
}

// Start starts a server and stops it at the end of the test. config contains additional lines for sshd_config. Start skips
// the test if sshd is not installed or the test does not run as root.
func Start(t testing.TB, config ...string) *Server {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s not found: install openssh-server", program)
	}
	if _, err := user.Lookup("sshd"); err != nil {
		t.Skip("user sshd not found: install openssh-server")
	}
	if os.Getuid() != 0 {
		t.Skip("requires root")
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Skip(err)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s := &Server{
		Home: filepath.Join(folder, "home"), State: filepath.Join(folder, "state"), Bin: filepath.Join(folder, "bin"), User: u.Username,
		Log: filepath.Join(folder, "log"), folder: folder, Port: freePort(t),
	}
	for _, name := range []string{filepath.Join(s.Home, ".ssh"), s.Bin} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	public := Key(t, filepath.Join(s.Home, ".ssh", "id_ed25519"))
	s.write(t, "authorized_keys", string(ssh.MarshalAuthorizedKey(public)))
	s.NewHostKey(t)
	s.write(t, "sshd_config", strings.Join(append([]string{
		"ListenAddress 127.0.0.1:" + strconv.Itoa(s.Port), "HostKey " + folder + "/host_key", "PidFile none", "UsePAM no",
		"AuthorizedKeysFile " + folder + "/authorized_keys", "StrictModes no", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "PermitRootLogin yes", "SetEnv HOME=" + s.Home + " XDG_STATE_HOME=" + s.State + " PATH=" + s.Bin + ":" + os.Getenv("PATH"), "MaxStartups 100",
	}, config...), "\n")+"\n")
	s.run(t)
	t.Cleanup(s.Stop)
	return s
}

// Password is the password of the user of [StartSudo].
const Password = `it's "secret"`

// StartSudo starts a server on which the user operator may run sudo according to a line of sudoers, which begins with
// "operator". The user exists only in the mount namespace of the server. StartSudo skips the test if sudo is not
// installed or such a namespace cannot be created.
func StartSudo(t testing.TB, sudoers ...string) *Server {
	t.Helper()
	s := Start(t)
	if _, err := exec.LookPath("sudo"); err != nil {
		t.Skip("sudo not found: install sudo")
	}
	if out, err := exec.Command("unshare", "-m", "mount", "--bind", "/tmp", "/tmp").CombinedOutput(); err != nil {
		t.Skipf("cannot create a mount namespace: %v: %s", err, out)
	}
	const uid, hash = 61234, "$6$kwWbRXwLHwUD0PT7$zaAc3W4WEXKGbuCql4d.Y5QjgnqINJKB91zTGZwem53wG/DpqevvXYCahFIbREjSgcVqFiHz6ibZI6/aFXDDZ1"
	s.User, s.overlay = "operator", map[string]string{}
	line := fmt.Sprintf("operator:x:%d:%[1]d::%s:/bin/sh\n", uid, s.Home)
	for name, content := range map[string]string{
		"passwd": "root:x:0:0::" + s.folder + ":/bin/sh\nsshd:x:104:65534::/run/sshd:/usr/sbin/nologin\n" + line,
		"shadow": "root:*:19000::::::\noperator:" + hash + ":19000::::::\n", "group": fmt.Sprintf("root:x:0:\noperator:x:%d:\n", uid),
		"sudoers": strings.Join(append([]string{"root ALL=(ALL) ALL"}, sudoers...), "\n") + "\n",
	} {
		s.write(t, name, content)
		s.overlay["/etc/"+name] = filepath.Join(s.folder, name)
	}
	for name, mode := range map[string]os.FileMode{
		"..": 0o755, "passwd": 0o644, "group": 0o644, "authorized_keys": 0o644, "sudoers": 0o440,
	} {
		if err := os.Chmod(filepath.Join(s.folder, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{s.Home, filepath.Join(s.Home, ".ssh"), s.Bin} {
		if err := os.Chown(name, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	s.Restart(t)
	return s
}

// NewHostKey replaces the host key and updates known_hosts. The server uses the new key after Restart.
func (s *Server) NewHostKey(t testing.TB) {
	t.Helper()
	public := Key(t, filepath.Join(s.folder, "host_key"))
	line := knownhosts.Line([]string{s.Address()}, public)
	if err := os.WriteFile(filepath.Join(s.Home, ".ssh", "known_hosts"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Address returns the server's address in the form host:port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Node returns an inventory node that refers to the server.
func (s *Server) Node(name string) *inventory.Node {
	return &inventory.Node{Name: name, Address: "127.0.0.1", Port: s.Port, User: s.User}
}

// Stop kills the server and its sessions.
func (s *Server) Stop() {
	s.EndSessions()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Restart stops the server and its sessions, then starts the server again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.run(t)
}

// EndSessions kills the server processes of all connections. Commands run by the sessions are not killed.
func (s *Server) EndSessions() {
	for _, pid := range children(s.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Pid returns the server's process id.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

func (s *Server) run(t testing.TB) {
	t.Helper()
	script := ""
	for to, from := range s.overlay {
		script += "mount --bind " + from + " " + to + " && "
	}
	s.cmd = exec.Command(program, "-D", "-e", "-f", filepath.Join(s.folder, "sshd_config"))
	if script != "" {
		s.cmd = exec.Command("unshare", append([]string{"-m", "sh", "-c", script + `exec "$0" "$@"`}, s.cmd.Args...)...)
	}
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if conn, err := net.Dial("tcp", s.Address()); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	text, _ := os.ReadFile(s.Log)
	t.Fatalf("sshd is not listening: %s", text)
}

func (s *Server) write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Key generates an Ed25519 key, writes the private key to a file, and returns the public key.
func Key(t testing.TB, file string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func children(pid int) []int {
	var all []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		var state string
		var parent int
		_, after, _ := bytes.Cut(text, []byte(") "))
		if _, err := fmt.Sscan(string(after), &state, &parent); err == nil && parent == pid {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all = append(all, child)
		}
	}
	return all
}

// Fingerprint returns the SHA-256 fingerprint of the host key.
func (s *Server) Fingerprint(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, "host_key"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.FingerprintSHA256(signer.PublicKey())
}
