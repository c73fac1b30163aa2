package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestMain(m *testing.M) {
	state, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("XDG_STATE_HOME", state); err != nil { // commands store their state in this folder
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(state)
	os.Exit(code)
}

// world is a server for the environments dev and prod, which have this machine as their only node.
type world struct {
	*testing.T
	service *service.Service
	options server.Options
	cancel  context.CancelFunc
	folder  string
	url     string
	// cert and key are the paths of the certificate and key files.
	cert, key string
	// tokens maps each role to its token. The role "" has none.
	tokens map[server.Role]string
	log    *lines
}

// lines collects the lines of a log. It is safe for concurrent use.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// build creates a world. Its server does not listen yet.
func build(t *testing.T) *world {
	w := &world{T: t, folder: t.TempDir(), log: &lines{}, tokens: map[server.Role]string{}}
	s := memory.New()
	for _, name := range []string{"dev", "prod"} {
		must.Do(t, s.Write(t.Context(), name, func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: name}) }))
	}
	types := tasktype.Builtin()
	executor := &tasktype.Executor{Types: types, Folder: w.folder}
	t.Cleanup(func() { executor.Close() })
	engines := map[string]*run.Engine{}
	for _, name := range []string{"dev", "prod"} {
		engines[name] = run.New(run.Options{Store: s, Environment: name, Executor: executor, Lease: 900 * time.Millisecond})
	}
	w.service = &service.Service{
		Store: s, Types: types, Engine: func(name string) *run.Engine { return engines[name] },
		Inventory: func(context.Context, string) (*inventory.Inventory, *lumigl.Snapshot, error) {
			return &inventory.Inventory{Nodes: []inventory.Node{{Name: "here", Local: true, Roles: []string{"web"}}}}, nil, nil
		},
	}
	logger := log.New(w.log, "", 0)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	t.Cleanup(cancel)
	runs := &server.Runs{Context: ctx, Log: logger, Engine: func(name string) server.Engine { return engines[name] }}
	w.service.Go = runs.Go
	var text strings.Builder
	for _, role := range []server.Role{server.Read, server.Plan, server.Deploy} {
		token, line := server.NewToken(role)
		w.tokens[role] = token
		fmt.Fprintln(&text, line, role, "user")
	}
	w.options = server.Options{API: w.service, Runs: runs, Log: logger, Tokens: w.readTokens(text.String())}
	return w
}

func (w *world) readTokens(text string) *server.Tokens {
	file := filepath.Join(w.TempDir(), "tokens")
	must.Do(w, os.WriteFile(file, []byte(text), 0o600))
	return must.Get(server.ReadTokens(file))(w)
}

// start creates a world whose server is listening.
func start(t *testing.T) *world {
	w := build(t)
	w.listen()
	return w
}

func (w *world) listen() {
	s := httptest.NewServer(server.New(w.options))
	w.Cleanup(s.Close)
	w.url = s.URL
}

// answer is a received HTTP response.
type answer struct {
	status int
	header http.Header
	body   string
}

// problem checks that an error response is well-formed and returns its detail.
func (a answer) problem(t testing.TB) string {
	t.Helper()
	var p struct {
		Title, Detail string
		Status        int
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Status != a.status || p.Title != http.StatusText(a.status) || p.Detail == "" ||
		a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("response %d with Content-Type %s is not a valid error: %q, %v", a.status, a.header.Get("Content-Type"), a.body, err)
	}
	return p.Detail
}

// send sends a request with the token of the given role.
func (w *world) send(role server.Role, method, path, body string) answer {
	w.Helper()
	r := must.Get(http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body)))(w)
	if role != "" {
		r.Header.Set("Authorization", "Bearer "+w.tokens[role])
	}
	return w.do(r)
}

func (w *world) do(r *http.Request) answer {
	w.Helper()
	response, err := http.DefaultClient.Do(r)
	must.Do(w, err)
	defer response.Body.Close()
	text := must.Get(io.ReadAll(response.Body))(w)
	return answer{response.StatusCode, response.Header, string(text)}
}

// must sends a request with the role [server.Deploy], checks the status, and decodes the response into out.
func (w *world) must(status int, method, path, body string, out any) answer {
	w.Helper()
	a := w.send(server.Deploy, method, path, body)
	if a.status != status {
		w.Fatalf("%s %s = %d %s, want %d", method, path, a.status, a.body, status)
	}
	if out != nil {
		must.Do(w, json.Unmarshal([]byte(a.body), out))
	}
	return a
}
