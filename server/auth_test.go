package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestRoles sends each operation without a token, with a wrong token, and with each role, both with and without a
// trailing slash.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.tokens["wrong"] = "lumi_WRONG"
	order := []server.Role{server.Read, server.Plan, server.Deploy}
	for path, methods := range operations(t) {
		for _, m := range methods {
			needs := server.Deploy
			if m == "GET" {
				needs = server.Read
			} else if strings.HasSuffix(path, "/plan") {
				needs = server.Plan
			}
			bare := strings.TrimSuffix(parameter.ReplaceAllString(path, "999"), "/")
			for _, role := range []server.Role{"", "wrong", server.Read, server.Plan, server.Deploy} {
				a, b := w.send(role, m, bare, "{}"), w.send(role, m, bare+"/", "{}")
				if a.status != b.status || a.body != b.body {
					t.Errorf("%s %s = %d %s without a trailing slash, %d %s with one", m, bare, a.status, a.body, b.status, b.body)
				}
				switch i := slices.Index(order, role); {
				case i < 0:
					if detail := a.problem(t); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" ||
						detail != "missing or invalid token; send the header Authorization: Bearer TOKEN" {
						t.Errorf("%s %s with token %q = %d %s, want 401", m, bare, role, a.status, a.body)
					}
				case i < slices.Index(order, needs):
					if detail := a.problem(t); a.status != 403 || detail != "the role "+string(needs)+" is required; the token has "+string(role) {
						t.Errorf("%s %s as %s = %d %s, want 403", m, bare, role, a.status, a.body)
					}
				case a.status == 401 || a.status == 403 || a.status >= 500:
					t.Errorf("%s %s as %s = %d %s, want it authorized", m, bare, role, a.status, a.body)
				case a.status >= 400:
					a.problem(t)
				}
			}
		}
	}
	if a := w.send("", "GET", "/openapi.json/", ""); a.status != 200 || a.body != string(server.OpenAPI()) {
		t.Errorf("GET /openapi.json/ = %d, want 200 with the document", a.status)
	}
}

// TestInvalidRequests sends invalid paths, methods, and parameters.
func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	w := start(t)
	all := operations(t)
	for path, methods := range all {
		for _, m := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
			if slices.Contains(methods, m) {
				continue
			}
			var allowed []string
			for _, m := range methods {
				if allowed = append(allowed, m); m == "GET" {
					allowed = append(allowed, "HEAD")
				}
			}
			slices.Sort(allowed)
			allow := strings.Join(allowed, ", ")
			for _, slash := range []string{"", "/"} {
				a := w.send(server.Deploy, m, strings.TrimSuffix(parameter.ReplaceAllString(path, "999"), "/")+slash, "")
				if a.status != 405 || a.header.Get("Allow") != allow || a.problem(t) != "this path only allows "+allow {
					t.Errorf("%s %s = %d, Allow %q, %s, want 405 with Allow %q", m, path+slash, a.status, a.header.Get("Allow"), a.body, allow)
				}
			}
		}
	}
	for _, path := range []string{"/", "/graph", "/graphs/1/other", "/cluster/", "/docs", "/schemas/Graph", "//x", "//graphs", "/graphs//1", "/graphs/./", "/releases/../graphs/", "/graphs/1/..", "/graphs//", "/%2e%2e/graphs", "/graphs%2F1", "/graphs/*/x", "/releases/1/deployment_graphs/default/x"} {
		if a := w.send(server.Deploy, "GET", path, ""); a.status != 404 || a.problem(t) != "no such path; /openapi.json lists all paths" {
			t.Errorf("GET %s = %d %s, want 404", path, a.status, a.body)
		}
	}
	for _, c := range [][3]string{
		{"GET", "/graphs/one", "path.id: invalid integer"},
		{"GET", "/releases/one/deployment_graphs", `invalid release "one": must be an ID`},
		{"GET", "/graphs/1%2F", "path.id: invalid integer"},
		{"GET", "/clusters/dev/runs?limit=5000", "query.limit: expected number <= 1000"},
		{"GET", "/clusters/dev/runs?Limit=5&x=1", `unknown query parameter "Limit"; expected before, limit; unknown query parameter "x"; expected before, limit`},
		{"PUT", "/clusters/dev/deploy/?node=web-1", `unknown query parameter "node"; expected type, graph_type, nodes, event, all`},
		{"GET", "/graphs?id=1", `unknown query parameter "id"; expected none`},
		{"PUT", "/clusters/dev/deploy/?nodes=&type=&type=x", "query.nodes: must not be empty; query.type: given more than once; separate several values with commas"},
		{"PUT", "/clusters/dev/deploy/?nodes=a&nodes=b", "query.nodes: given more than once; separate several values with commas"},
		{"PUT", "/clusters/dev/deploy/?type=%zz", `query: invalid URL escape "%zz"`},
		{"PUT", "/clusters/dev/deploy/?type=a;nodes=b", "query: invalid semicolon separator in query"},
	} {
		if a := w.send(server.Deploy, c[0], c[1], ""); a.status != 400 || a.problem(t) != c[2] {
			t.Errorf("%s %s = %d %s, want 400 %q", c[0], c[1], a.status, a.body, c[2])
		}
	}
}

// Changes to the tokens file apply without a restart.
func TestTokensReread(t *testing.T) {
	t.Parallel()
	w := build(t)
	file := filepath.Join(t.TempDir(), "tokens")
	first, line1 := server.NewToken(server.Read)
	second, line2 := server.NewToken(server.Deploy)
	write := func(text string, mode os.FileMode) {
		t.Helper()
		time.Sleep(5 * time.Millisecond) // file systems may not distinguish modification times that are closer
		must.Do(t, os.WriteFile(file, []byte(text), mode))
		must.Do(t, os.Chmod(file, mode))
	}
	write("# tokens\n\n"+line1+"\n", 0o600)
	var err error
	if w.options.Tokens, err = server.ReadTokens(file); err != nil {
		t.Fatal(err)
	}
	w.listen()
	status := func(token string) int {
		w.tokens["x"] = token
		return w.send("x", "GET", "/graphs/", "").status
	}
	if a, b := status(first), status(second); a != 200 || b != 401 {
		t.Errorf("initial statuses = %d, %d, want 200, 401", a, b)
	}
	write(line2+" ci\n", 0o600)
	if a, b := status(first), status(second); a != 401 || b != 200 {
		t.Errorf("statuses after a change = %d, %d, want 401, 200", a, b)
	}
	write("admin "+line2+"\n", 0o600)
	if a, b := status(first), status(second); a != 401 || b != 401 {
		t.Errorf("statuses with an invalid file = %d, %d, want 401, 401", a, b)
	}
	write(line1+"\n", 0o644)
	if a, b := status(first), status(second); a != 401 || b != 401 {
		t.Errorf("statuses with a file readable by others = %d, %d, want 401, 401", a, b)
	}
	write(line1+"\n", 0o600)
	if a, b := status(first), status(second); a != 200 || b != 401 {
		t.Errorf("statuses after the file is valid again = %d, %d, want 200, 401", a, b)
	}
	must.Do(t, os.Remove(file))
	if a := status(first); a != 401 {
		t.Errorf("status without the file = %d, want 401", a)
	}
	text := w.log.String()
	for _, want := range []string{
		" ci GET /graphs/ 200 ", " read GET /graphs/ 200 ", " - GET /graphs/ 401 ",
		"cannot read tokens, so none is accepted: " + file + ":1: unknown role \"admin\"; expected read, plan, or deploy\n",
		"cannot read tokens, so none is accepted: " + file + " is accessible to other users; run: chmod 600 " + file + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not contain %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, first) || strings.Contains(text, second) {
		t.Errorf("the log contains tokens:\n%s", text)
	}
}

func TestReadTokensErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	form := "missing token hash after the role; 'lumi serve --new-token=ROLE' prints both"
	for text, want := range map[string]string{
		"read lumi_ABC\nroot x\n\nplan\n":          file + ":1: " + form + "\n" + file + ":2: unknown role \"root\"; expected read, plan, or deploy\n" + file + ":4: " + form,
		"read sha256:" + strings.Repeat("a", 63):   file + ":1: " + form,
		"read sha256:" + strings.Repeat("ab", 33):  file + ":1: " + form,
		"read sha512:" + strings.Repeat("ab", 32):  file + ":1: " + form,
		"read sha256:" + strings.Repeat("g", 64):   file + ":1: " + form,
		"plan sha256:" + strings.Repeat("ab", 32):  "",
		"plan sha256:" + strings.Repeat("ab", 1e5): file + ":1: " + form,
		"plan sha256:" + strings.Repeat("aB", 32):  file + ":1: " + form,
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		got := ""
		if _, err := server.ReadTokens(file); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ReadTokens of %.80q:\n%s\nwant\n%s", text, got, want)
		}
	}
	if _, err := server.ReadTokens(filepath.Dir(file)); err == nil || err.Error() != filepath.Dir(file)+" is not a regular file" {
		t.Errorf("ReadTokens of a folder = %v, want an error", err)
	}
	want := file + "x: no such file; 'lumi serve --new-token=ROLE' prints lines for it"
	if _, err := server.ReadTokens(file + "x"); err == nil || err.Error() != want {
		t.Errorf("ReadTokens of a missing file = %v, want %s", err, want)
	}
}

// With Local set, requests for other hosts are rejected, as after DNS rebinding.
func TestLocalHosts(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.options.Local = true
	w.listen()
	for host, want := range map[string]int{
		"": 200, "localhost:1": 200, "LOCALHOST": 200, "127.0.0.1": 200, "[::1]:8440": 200, "[::1]": 200,
		"evil.example": 421, "localhost.evil.example:80": 421, "10.0.0.1": 421,
	} {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/graphs/", nil))(t)
		r.Host = host
		r.Header.Set("Authorization", "bearer "+w.tokens[server.Read])
		if a := w.do(r); a.status != want {
			t.Errorf("status for host %s = %d, want %d: %s", host, a.status, want, a.body)
		} else if want != 200 {
			a.problem(t)
		}
	}
}
