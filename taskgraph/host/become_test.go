package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/sshd"
)

// Commands and files on a node with become belong to root, with real sudo. It asks for a password, or asks for none.
func TestBecome(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, sudoers, password string }{
		{"password", "operator ALL=(ALL) ALL", sshd.Password},
		{"unused password", "operator ALL=(ALL) NOPASSWD: ALL", sshd.Password},
		{"no password", "operator ALL=(ALL) NOPASSWD: ALL", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := sshd.StartSudo(t, test.sudoers)
			n := s.Node("web-1")
			n.Become = "sudo"
			p := &Pool{Home: s.Home, Agent: "/nonexistent"}
			t.Cleanup(func() { _ = p.Close() })
			host, err := p.Open(t.Context(), n, Access{Password: test.password})
			if err != nil {
				t.Fatal(err)
			}
			h := host.(*shell)
			for _, token := range []string{"", "prod/1-2"} {
				// The command has no input, no password in its environment, and none on a command line.
				exit, out := run(t, h, Command{Token: token, Script: `id -u; cat; env; cat /proc/[0-9]*/cmdline | tr '\0' '\n'; echo "$A"; exit 3`, Env: []string{"A=it's"}})
				if exit != 3 || !strings.HasPrefix(out, "0\n") || !strings.HasSuffix(out, "it's") || strings.Contains(out, sshd.Password) {
					t.Errorf("token %q: Run = %d, %q, want 3, 0 and it's, without the password", token, exit, out)
				}
			}
			folder := filepath.Join(t.TempDir(), "own")
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			name, content := filepath.Join(folder, "a", "file"), strings.Repeat("line\n", 1<<17)
			if err := h.Write(t.Context(), name, 0o640, strings.NewReader(content)); err != nil {
				t.Fatal(err)
			}
			if text := must(h.Read(t.Context(), name)); string(text) != content {
				t.Errorf("Read returned %d bytes, want %d", len(text), len(content))
			}
			if _, out := run(t, h, Command{Script: "stat -c '%U %a' " + name}); out != "root 640" {
				t.Errorf("the file belongs to %s, want root 640", out)
			}
			// A canceled command does not keep running.
			ctx, cancel := context.WithCancel(t.Context())
			pid := ""
			_, err = h.Run(ctx, Command{Token: "stop", Script: "echo $$; exec sleep 60", Output: func(line string) { pid = line; cancel() }})
			if _, missing := os.Stat("/proc/" + pid); err == nil || missing == nil || pid == "" {
				t.Errorf("Run = %v, and process %s is running", err, pid)
			}
			if text := string(must(os.ReadFile(s.Log))); strings.Contains(text, sshd.Password) {
				t.Error("the log of sshd contains the password")
			}
		})
	}
}

func TestBecomeRefused(t *testing.T) {
	t.Parallel()
	s := sshd.StartSudo(t, "operator ALL=(ALL) ALL")
	n := s.Node("web-1")
	n.Become = "sudo"
	try := func(password, want string) {
		t.Helper()
		_, err := (&Pool{Home: s.Home, Agent: "/nonexistent"}).Open(t.Context(), n, Access{Password: password})
		if err == nil || err.Error() != want {
			t.Errorf("Open = %v, want %s", err, want)
		}
	}
	try("wrong", "node web-1: wrong password for sudo")
	try("", "node web-1: sudo requires a password: set become_secret in the inventory")
	if err := os.WriteFile(filepath.Join(s.Bin, "sudo"), []byte("#!/bin/sh\necho lecture >&2; echo 'sudo: broken' >&2; exit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	try(sshd.Password, "node web-1: sudo failed: exit status 7 (sudo: broken)")
	other := sshd.StartSudo(t, "operator ALL=(nobody) ALL")
	n = other.Node("web-1")
	n.Become, s = "sudo", other
	host := strings.Split(must(os.Hostname()), ".")[0]
	try(sshd.Password, "node web-1: sudo failed: exit status 1 (Sorry, user operator is not allowed to execute '/usr/bin/true' as root on "+host+".)")
}
