package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Answers to uploads contain the warnings about them. Sending such an answer back is an upload of the same tasks.
func TestWarnings(t *testing.T) {
	t.Parallel()
	w := start(t)
	const tasks = `[{"id": "a", "type": "stage", "condition_if": 1}, {"id": "b", "type": "stage", "test_pre": {"cmd": "x", "shell": "y"}}]`
	const about = `"task":"a","attribute":"condition_if","line":1,"column":%d,"message":"unknown attribute \"condition_if\", kept as is; did you mean condition?"}`
	var g, again service.Graph
	a := w.must(201, "POST", "/clusters/dev/deployment_graphs", `{"name": "x", "tasks": `+tasks+"}", &g)
	want := `"warnings":[{` + fmt.Sprintf(about, 54) + `,{"task":"b","attribute":"test_pre","line":1,"column":128,"message":"unknown attribute \"test_pre.shell\", kept as is"}]}`
	if !strings.Contains(a.body, want) {
		t.Errorf("answer = %s, want it to contain %s", a.body, want)
	}
	path := fmt.Sprintf("/graphs/%d", g.ID)
	if w.must(200, "PUT", path, a.body, &again); len(again.Warnings) != 2 || again.Tasks[0].DatabaseID != g.Tasks[0].DatabaseID {
		t.Errorf("answer to an unchanged upload = %+v, want the same tasks and 2 warnings", again)
	}
	if a := w.must(200, "GET", path, "", nil); strings.Contains(a.body, "warnings") {
		t.Errorf("GET = %s, want no warnings", a.body)
	}
	var stored []service.Task
	if w.must(200, "PUT", path+"/tasks", tasks, &stored); len(stored[0].Warnings) != 1 || stored[1].Warnings[0].Attribute != "test_pre" {
		t.Errorf("answer to an upload of tasks = %+v, want a warning for each task", stored)
	}
	task := fmt.Sprintf("%s/tasks/%d", path, stored[0].DatabaseID)
	a = w.must(200, "PUT", task, `{"id": "a", "type": "stage", "condition_if": 1}`, nil)
	if want := fmt.Sprintf(`{"_id":%d,"_warnings":[{`+about+`],"id":"a",`, stored[0].DatabaseID, 30); !strings.HasPrefix(a.body, want) {
		t.Errorf("answer to an upload of a task = %s, want prefix %s", a.body, want)
	}
	if b := w.must(200, "PUT", task, a.body, nil); !strings.HasSuffix(b.body, `"id":"a","type":"stage","condition_if":1}`+"\n") {
		t.Errorf("task after an upload of the answer = %s, want it unchanged", b.body)
	}
}

// TestUploads sends graphs and tasks in all supported forms.
func TestUploads(t *testing.T) {
	t.Parallel()
	w := start(t)
	const path = "/clusters/dev/deployment_graphs"
	const attributes = `"type":"stage","big":12345678901234567890.123456789,"huge":1e400,"nested":{"b":[1.0,null],"a":{"x":true}}`
	var g, h service.Graph
	w.must(201, "POST", path, `{"name": "First", "tasks": [{"id": "a", `+attributes+`}]}`, &g)
	a := w.must(200, "GET", path+"/default", "", &g)
	if want := fmt.Sprintf(`{"_id":%d,"id":"a","type":"stage","big":12345678901234567890.123456789,"huge":1e400,"nested":{"a":{"x":true},"b":[1.0,null]}}`, g.Tasks[0].DatabaseID); !strings.Contains(a.body, want) {
		t.Errorf("graph = %s, want it to contain %s", a.body, want)
	}
	// Sending a response back as an upload changes nothing.
	if b := w.must(200, "PUT", path+"/default/", a.body, nil); b.body != a.body {
		t.Errorf("graph after an unchanged upload = %s, want %s", b.body, a.body)
	}
	w.must(200, "PUT", path+"/default", `{}`, &h)
	if h.Name != "First" || len(h.Tasks) != 1 {
		t.Errorf("graph after an empty upload = %+v, want it unchanged", h)
	}
	w.must(200, "PUT", fmt.Sprintf("/graphs/%d", g.ID), "# YAML\n- {id: a, type: anchor}\n", &h)
	if h.Name != "First" || len(h.Tasks) != 1 || h.Tasks[0].Attributes["type"] != "anchor" {
		t.Errorf("graph after an upload of a YAML list = %+v, want only its tasks replaced", h)
	}
	w.must(200, "PUT", path+"/default", "name: Second\ntasks: []", &h)
	if h.Name != "Second" || len(h.Tasks) != 0 {
		t.Errorf("graph after an upload of a YAML map = %+v, want its name and tasks replaced", h)
	}
	w.must(201, "POST", "/graphs/", "type: fix\nrelations: [{layer: cluster, environment: prod}]\ntasks: [{id: a, type: stage}]", &h)
	if h.Type != "fix" || h.Relations[0] != (store.Owner{Layer: store.ClusterLayer, Environment: "prod"}) {
		t.Errorf("new graph = %+v, want type fix and owner prod", h)
	}
	// A single task can be uploaded, too.
	task := fmt.Sprintf("/graphs/%d/tasks/%d", h.ID, h.Tasks[0].DatabaseID)
	w.must(200, "PUT", task, `{"id": "a", "type": "stage", "n": 12345678901234567890}`, nil)
	w.must(200, "GET", fmt.Sprintf("/graphs/%d/tasks/", h.ID), "", &h.Tasks)
	w.must(200, "PUT", fmt.Sprintf("/graphs/%d/tasks/%d", h.ID, h.Tasks[0].DatabaseID), "id: a\ntype: stage\nn: 12345678901234567890\n", nil)
	var tasks []service.Task
	if a := w.must(200, "GET", fmt.Sprintf("/graphs/%d/tasks/", h.ID), "", &tasks); !strings.Contains(a.body, `"n":12345678901234567890}`) {
		t.Errorf("tasks = %s, want the exact number", a.body)
	}

	task = fmt.Sprintf("/graphs/%d/tasks/%d", h.ID, tasks[0].DatabaseID)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", path, "", `{"title":"Bad Request","status":400,"detail":"request body is required"}`},
		{
			"POST", path, "{\n  \"type\": \"x\",\n  \"tasks\": [{\"id\": \"a\", \"type\": \"stage\", \"requires\": 1}, {\"id\": \"?\"}]}",
			`{"title":"Bad Request","status":400,"detail":"2 errors in task graphs","problems":[` +
				`{"task":"a","attribute":"requires","line":3,"column":54,"message":"requires must be a string or a list of strings"},` +
				`{"task":"?","attribute":"id","line":3,"column":65,"message":"invalid task name \"?\"`,
		},
		{"PUT", task, "{\n\"id\": \"?\"}", `{"title":"Bad Request","status":400,"detail":"1 error in task graphs","problems":[{"task":"?","attribute":"id","line":2,"column":7,"message":`},
		{"PUT", task, `[{"id": "a"}]`, `{"title":"Bad Request","status":400,"detail":"1 error in task graphs","problems":[{"line":1,"column":1,"message":"a task must be an object with an id"}]}`},
		{"POST", "/graphs", "relations: 1", `{"title":"Bad Request","status":400,"detail":"relations must have one owner, such as ` +
			`{\"layer\": \"cluster\", \"environment\": \"prod\"} or {\"layer\": \"release\", \"id\": 1}"}`},
		{"POST", "/graphs", "[]", `{"title":"Bad Request","status":400,"detail":"relations must have one owner, such as ` +
			`{\"layer\": \"cluster\", \"environment\": \"prod\"} or {\"layer\": \"release\", \"id\": 1}"}`},
		{"POST", path, `{"relations": [{"layer": "cluster", "environment": "prod"}]}`, `{"title":"Bad Request","status":400,"detail":"relations must name the same owner as the path"}`},
		{"PUT", fmt.Sprintf("/graphs/%d/tasks", g.ID), `{"name": "Fix"}`, `{"title":"Bad Request","status":400,"detail":"tasks is missing; an empty list removes all tasks"}`},
		{"PUT", path + "/default", `{"type": "fix"}`, fmt.Sprintf(`{"title":"Bad Request","status":400,"detail":"the type of graph %d is default and cannot be changed"}`, g.ID)},
		{"PUT", path + "/default", `{"relations": [{"layer": "release", "id": 1}]}`, fmt.Sprintf(`{"title":"Bad Request","status":400,"detail":"the owner of graph %d cannot be changed"}`, g.ID)},
		{"PUT", "/clusters/dev/deploy", `{"type": 1, "extra": 2}`, `{"title":"Bad Request","status":400,"detail":"body.type: expected string; body.extra: unexpected property"}`},
		{"PUT", "/clusters/dev/deploy", `{"Type": "x", "nodes": []}`, `{"title":"Bad Request","status":400,"detail":"body.nodes: expected array length >= 1; body.Type: unexpected property"}`},
		{"PUT", "/clusters/dev/selection", `{"release": 1e30}`, `{"title":"Bad Request","status":400,"detail":"body: release and plugins: expected an ID or an object with an id, got 1e30"}`},
		{"PUT", "/clusters/dev/selection", `{"plugins": [{"id": 1.5}]}`, `{"title":"Bad Request","status":400,"detail":"body: release and plugins: expected an ID or an object with an id, got {\"id\": 1.5}"}`},
		{"PUT", "/clusters/dev/selection", `{"release": "shop"}`, `{"title":"Bad Request","status":400,"detail":"body: release and plugins: expected an ID or an object with an id, got \"shop\""}`},
		{"PUT", "/clusters/dev/selection", `{"plugins": [null]}`, `{"title":"Bad Request","status":400,"detail":"body: release and plugins: expected an ID or an object with an id, got null"}`},
		{"PUT", "/clusters/dev/selection", `{"plugins": [{"name": "x"}]}`, `{"title":"Bad Request","status":400,"detail":"body: release and plugins: expected an ID or an object with an id, got {\"name\": \"x\"}"}`},
		{"PUT", "/clusters/dev/selection", `{"plugin": 1}`, `{"title":"Bad Request","status":400,"detail":"body.plugin: unexpected property"}`},
		{"POST", "/releases", `{"name": "x"`, `{"title":"Bad Request","status":400,"detail":"body: unexpected end of JSON input"}`},
	} {
		if a := w.send(server.Deploy, c.method, c.path, c.body); a.status != 400 || !strings.HasPrefix(a.body, c.want) {
			t.Errorf("%s %s %q = %d\n%s\nwant 400\n%s", c.method, c.path, c.body, a.status, a.body, c.want)
		} else {
			a.problem(t)
		}
	}
}

// TestLimits sends requests that are too large or too slow.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := start(t)
	if a := w.send(server.Deploy, "POST", "/clusters/dev/deployment_graphs/", `["`+strings.Repeat("x", 8<<20)); a.status != 413 {
		t.Errorf("response to a large body = %d %s, want 413", a.status, a.body)
	} else if a.problem(t) != "request body is too large limit=8388608 bytes" {
		t.Errorf("response to a large body = %s", a.body)
	}
	if a := w.send(server.Deploy, "POST", "/releases/", strings.Repeat(" ", 9<<20)); a.status != 413 {
		t.Errorf("response to a body of spaces = %d %s, want 413", a.status, a.body)
	}
	w = build(t)
	w.options.ReadTimeout = 300 * time.Millisecond
	w.serve()
	dial := func(text string) (*bufio.Reader, time.Time) {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(w.url, "http://")))(t)
		t.Cleanup(func() { c.Close() })
		must.Get(io.WriteString(c, text))(t)
		return bufio.NewReader(c), time.Now()
	}
	r, begin := dial("POST /graphs/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens[server.Deploy] + "\r\nContent-Length: 100\r\n\r\n{")
	if a, err := http.ReadResponse(r, nil); err != nil || a.StatusCode != http.StatusRequestTimeout || time.Since(begin) > 5*time.Second {
		t.Errorf("response to a slow body = %v, %v after %s, want 408 within 5s", a, err, time.Since(begin))
	} else {
		a.Body.Close()
	}
	r, begin = dial("GET /graphs/ HTTP/1.1\r\nHost:")
	if _, err := io.ReadAll(r); err != nil || time.Since(begin) > 5*time.Second {
		t.Errorf("read after a slow header: %v after %s, want the connection closed within 5s", err, time.Since(begin))
	}
	r, _ = dial("GET /graphs/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n")
	if a, err := http.ReadResponse(r, nil); err != nil || a.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("response to a large header = %v, %v, want 431", a, err)
	} else {
		a.Body.Close()
	}
}

// Errors in the server's inventory are not reported as errors in the request.
func TestInventoryError(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.must(201, "POST", "/clusters/dev/deployment_graphs", "[{id: a, type: stage}]", nil)
	w.service.Inventory = func(context.Context, string) (*inventory.Inventory, *lumigl.Snapshot, error) {
		nodes, err := inventory.Load("nodes:\n  web-1: {connection: locla}\n", "/srv/shop/inventory.yaml", nil)
		return nodes, nil, err
	}
	a := w.send(server.Plan, "POST", "/clusters/dev/plan", "")
	if a.status != 400 || a.problem(t) != "inventory.yaml:2:23: connection must be ssh or local" {
		t.Errorf("plan with an invalid inventory = %d %s, want 400", a.status, a.body)
	}
}

// broken is an API that fails every call.
type broken struct{ service.API }

func (broken) Graphs(context.Context, *store.Owner) ([]service.Graph, error) { panic("hidden panic") }

func (broken) Graph(context.Context, int64) (service.Graph, error) {
	return service.Graph{}, errors.New("hidden error")
}

// Internal errors are logged but not shown to clients.
func TestInternalError(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.options.API = broken{}
	w.listen()
	for _, path := range []string{"/graphs/", "/graphs/1"} {
		if a := w.send(server.Read, "GET", path, ""); a.status != 500 || a.problem(t) != "internal error; see the server's log" {
			t.Errorf("GET %s = %d %s, want 500", path, a.status, a.body)
		}
	}
	text := w.log.String()
	for _, want := range []string{"panic: GET /graphs/: hidden panic\n", "error: hidden error\n", " read user GET /graphs/ 500 ", " read user GET /graphs/1 500 "} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not contain %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the log contains a query string:\n%s", text)
	}
}

// copied is an API over a copied state.
type copied struct{ service.API }

func (copied) Graph(context.Context, int64) (service.Graph, error) {
	return service.Graph{}, fmt.Errorf("/srv/state.db: %w", store.ErrCopied)
}

// Clients learn that the state must be adopted, but not its path.
func TestCopiedState(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.options.API = copied{}
	w.listen()
	want := "the server's state is a copy or was restored from a backup, so it can only be read: if nothing uses the original, " +
		"run 'lumi state adopt' on the server"
	if a := w.send(server.Read, "GET", "/graphs/1", ""); a.status != 409 || a.problem(t) != want {
		t.Errorf("GET /graphs/1 = %d %s, want 409 and %q", a.status, a.body, want)
	}
}

// TestConcurrentCreation posts the same graph many times concurrently.
func TestConcurrentCreation(t *testing.T) {
	t.Parallel()
	w := start(t)
	var mutex sync.Mutex
	got := map[int]int{}
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			path := "/clusters/dev/deployment_graphs/"
			if i%2 == 0 {
				path = "/graphs/"
			}
			a := w.send(server.Deploy, "POST", path, `{"relations": [{"layer": "cluster", "environment": "dev"}], "tasks": [{"id": "a", "type": "stage"}]}`)
			mutex.Lock()
			defer mutex.Unlock()
			got[a.status]++
		})
	}
	wait.Wait()
	if len(got) != 2 || got[201] != 1 || got[409] != 29 {
		t.Errorf("statuses = %v, want 201 once and 409 29 times", got)
	}
}

// A client that disconnects in the middle of a body does not cause a server error.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, header := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(w.url, "http://")))(t)
		fmt.Fprintf(conn, "POST /graphs/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n5\r\n[{", w.tokens[server.Deploy], header)
		_ = conn.Close()
	}
	for deadline := time.Now().Add(time.Minute); strings.Count(w.log.String(), " deploy user POST /graphs/ 400 ") < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log does not contain two requests with status 400:\n%s", w.log.String())
		}
	}
}
