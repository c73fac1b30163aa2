// Package postgres starts PostgreSQL servers for tests.
package postgres

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Server is a server with a cluster of its own, which listens on a loopback address.
type Server struct {
	// Port is the port of the server. User is the name of the superuser, who needs no password.
	Port int
	User string

	folder, bin string
	schemas     atomic.Int64
}

// Find returns the folder of the server's programs, or "" if PostgreSQL is not installed.
func Find() string {
	if folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(folders) > 0 { // of Debian, not on $PATH
		return folders[len(folders)-1]
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// Start starts a server with the given settings, such as "fsync=on", and stops it after the test. It skips the test if
// PostgreSQL is not installed.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := &Server{User: "lumi", bin: Find()}
	if s.bin == "" {
		t.Skip("PostgreSQL is not installed: install Debian's package postgresql to run this test")
	}
	var err error
	if s.folder, err = os.MkdirTemp("", "lumi-pg"); err != nil { // short, since the path of a socket is limited
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.folder) })
	if os.Getuid() == 0 {
		if err := os.Chown(s.folder, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	s.Port = freePort(t)
	s.run(t, "initdb", "--auth=trust", "--username="+s.User, "--no-sync", "--encoding=UTF8", "--locale=C", "--pgdata="+s.data())
	settings = slices.Concat([]string{
		"port=" + strconv.Itoa(s.Port), "listen_addresses='127.0.0.1'", "unix_socket_directories='" + s.folder + "'", "fsync=off",
		"max_connections=200", "log_min_messages=fatal",
	}, settings)
	if err := os.WriteFile(filepath.Join(s.data(), "postgresql.auto.conf"), []byte(strings.Join(settings, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
	t.Cleanup(func() { s.Stop(t, "immediate") })
	return s
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// URL returns the URL of a new schema in the database postgres.
func (s *Server) URL() string { return s.Schema(fmt.Sprintf("test%d", s.schemas.Add(1))) }

// Schema returns the URL of a schema in the database postgres.
func (s *Server) Schema(name string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable&schema=%s", s.User, s.Port, name)
}

// Restart starts the server if it does not run, and waits until it accepts connections.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "--pgdata="+s.data(), "--log="+filepath.Join(s.folder, "log"), "--wait", "start")
}

// Stop stops the server if it runs. The mode is "fast" or "immediate", which is like a crash.
func (s *Server) Stop(t testing.TB, mode string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(s.data(), "postmaster.pid")); err == nil {
		s.run(t, "pg_ctl", "--pgdata="+s.data(), "--mode="+mode, "--wait", "stop")
	}
}

// Query runs SQL with psql and returns its output, a row per line.
func (s *Server) Query(t testing.TB, sql string) string {
	t.Helper()
	return s.run(t, "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--host=127.0.0.1",
		"--port="+strconv.Itoa(s.Port), "--username="+s.User, "--dbname=postgres", "--command="+sql)
}

// run runs a program of PostgreSQL and returns its output.
func (s *Server) run(t testing.TB, program string, args ...string) string {
	t.Helper()
	c := exec.Command(filepath.Join(s.bin, program), args...)
	c.Dir = s.folder
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	demote(c)
	out, err := os.CreateTemp(s.folder, "out") // not a pipe, which the server would keep open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	c.Stdout, c.Stderr = out, out
	c.WaitDelay = time.Minute
	err = c.Run()
	text, _ := os.ReadFile(out.Name())
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.folder, "log"))
		t.Fatalf("%s: %v\n%s%s", program, err, text, log)
	}
	return strings.TrimSpace(string(text))
}

// Pooler starts PgBouncer, which shares the server's connections between transactions, and returns its port. It skips the
// test if PgBouncer is not installed.
func (s *Server) Pooler(t testing.TB) int {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // not on $PATH of every user
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("PgBouncer is not installed: install Debian's package pgbouncer to run this test")
	}
	port := freePort(t)
	settings := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = any\npool_mode = transaction\ndefault_pool_size = 20\nmax_client_conn = 1000\n", s.Port, port)
	settings = strings.Replace(settings, "* = ", "postgres = user="+s.User+" ", 1)
	file := filepath.Join(s.folder, "pooler.ini")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--quiet", file)
	demote(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			_ = conn.Close()
			return port
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// freePort returns a port that nothing listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// nobody is the user who runs the server if the tests run as root, whom the server refuses.
const nobody = 65534

func demote(c *exec.Cmd) {
	if os.Getuid() == 0 {
		runAs(c, nobody)
	}
}
