package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/server/client"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type transcript struct {
	*testing.T
	lines []string
}

// note records the result of a call. It omits times.
func (s *transcript) note(what string, value any, err error) {
	s.Helper()
	text := must.Get(json.Marshal(value))(s)
	var of *service.Error
	var graph *taskgraph.Error
	switch {
	case errors.As(err, &graph):
		text = fmt.Appendf(nil, "graph errors: %+v", graph.Problems)
	case errors.As(err, &of):
		text = fmt.Appendf(nil, "%s: %s", of.Kind, of.Message)
	case err != nil:
		s.Fatalf("%s: %v", what, err)
	}
	s.lines = append(s.lines, what+": "+string(text))
}

// scenario calls every method of an API, with valid and invalid arguments, and returns the transcript.
func scenario(t *testing.T, api service.API, folder string) []string {
	s, ctx := &transcript{T: t}, t.Context()
	parse := func(text string) []taskgraph.Task {
		g := must.Get(taskgraph.Parse([]byte(text), ""))(t)
		return g.Tasks
	}
	release, err := api.AddRelease(ctx, service.Release{Layer: store.ReleaseLayer, Name: "shop", Version: "1"})
	s.note("add release", release, err)
	plugin, err := api.AddRelease(ctx, service.Release{Layer: store.PluginLayer, Name: "lma", Version: "2"})
	s.note("add plugin", plugin, err)
	_, err = api.AddRelease(ctx, service.Release{Layer: store.ReleaseLayer, Name: "shop", Version: "1"})
	s.note("add again", nil, err)
	_, err = api.AddRelease(ctx, service.Release{Layer: store.ReleaseLayer, Name: "sh op", Version: "1"})
	s.note("add invalid", nil, err)
	for _, layer := range []store.Layer{store.ReleaseLayer, store.PluginLayer} {
		all, err := api.Releases(ctx, layer)
		s.note("list "+string(layer), all, err)
	}
	owners := []store.Owner{{Layer: store.ReleaseLayer, ID: release.ID}, {Layer: store.PluginLayer, ID: plugin.ID}, {Layer: store.ClusterLayer, Environment: "dev"}}
	var graphs []service.Graph
	for i, o := range owners {
		g, err := api.Create(ctx, o, taskgraph.Graph{Name: "N", Tasks: parse(fmt.Sprintf(`[{"id": "t%d", "type": "shell", "n": 12345678901234567890.5, "parameters": {"cmd": "true"}}]`, i))})
		s.note("create", g, err)
		graphs = append(graphs, g)
		g, err = api.Find(ctx, o, "")
		s.note("find", g, err)
		_, err = api.Find(ctx, o, "defautl")
		s.note("find other", nil, err)
		_, err = api.Create(ctx, o, taskgraph.Graph{})
		s.note("create again", nil, err)
		all, err := api.Graphs(ctx, &o)
		s.note("list graphs", all, err)
	}
	_, err = api.Create(ctx, owners[2], taskgraph.Graph{Type: "x", Tasks: parse(`[{"id": "a", "type": "shel", "requires": ["b"]}, {"id": "b", "type": "stage", "requires": "a"}]`)})
	s.note("create invalid", nil, err)
	for _, o := range []store.Owner{{Layer: store.ReleaseLayer, ID: 77}, {Layer: store.ClusterLayer, Environment: "dve"}} {
		_, err = api.Create(ctx, o, taskgraph.Graph{})
		s.note("create without owner", nil, err)
		_, err = api.Graphs(ctx, &o)
		s.note("list without owner", nil, err)
	}
	clusters, err := api.Clusters(ctx)
	s.note("clusters", clusters, err)
	selection, err := api.Use(ctx, service.Selection{
		Environment: "dev", Release: &release, Plugins: []service.Release{plugin}, Order: []store.Layer{store.ClusterLayer, store.ReleaseLayer, store.PluginLayer}, Whole: true,
	})
	s.note("use", selection, err)
	_, err = api.Use(ctx, service.Selection{Environment: "dev", Release: &service.Release{ID: 77}})
	s.note("use other", nil, err)
	selection, err = api.Selection(ctx, "dev")
	s.note("selection", selection, err)
	selection, err = api.Selection(ctx, "prod")
	s.note("selection of prod", selection, err)
	for _, layers := range [][]store.Layer{nil, {store.PluginLayer, store.ClusterLayer}, {"node"}} {
		e, err := api.Effective(ctx, "dev", "", layers...)
		s.note("effective", e, err)
	}
	name := "New"
	g, err := api.Update(ctx, graphs[2].ID, &name, nil)
	s.note("rename", g, err)
	g, err = api.Update(ctx, graphs[2].ID, new(""), nil)
	s.note("remove the name", g, err)
	g, err = api.Update(ctx, graphs[2].ID, nil, append(parse(`[{id: wait, type: shell, parameters: {cmd: "until [ -e go ]; do sleep 0.02; done"}}]`), graphs[2].Tasks[0].Task))
	s.note("update", g, err)
	if err != nil {
		t.Fatalf("Update: %v\n%s", err, strings.Join(s.lines, "\n"))
	}
	task, err := api.UpdateTask(ctx, g.ID, g.Tasks[1].DatabaseID, parse(`[{id: t2, type: shell, requires: [wait], parameters: {cmd: touch after}}]`)[0])
	s.note("update task", task, err)
	_, err = api.UpdateTask(ctx, g.ID, g.Tasks[1].DatabaseID, task.Task)
	s.note("update task again", nil, err)
	g, err = api.Graph(ctx, g.ID)
	s.note("graph", g, err)
	s.note("delete task in use", nil, api.DeleteTask(ctx, g.ID, g.Tasks[0].DatabaseID))
	_, err = api.Graph(ctx, 777)
	s.note("no graph", nil, err)
	s.runs(ctx, api, folder)
	s.note("delete release in use", nil, api.DeleteRelease(ctx, store.ReleaseLayer, release.ID))
	_, err = api.Use(ctx, service.Selection{Environment: "dev"})
	s.note("use nothing", nil, err)
	g, err = api.Graph(ctx, graphs[1].ID)
	s.note("graph of plugin", g, err)
	s.note("delete task", nil, api.DeleteTask(ctx, g.ID, g.Tasks[0].DatabaseID))
	s.note("delete task again", nil, api.DeleteTask(ctx, g.ID, g.Tasks[0].DatabaseID))
	s.note("delete graph", nil, api.Delete(ctx, g.ID))
	s.note("delete graph again", nil, api.Delete(ctx, g.ID))
	s.note("delete release", nil, api.DeleteRelease(ctx, store.ReleaseLayer, release.ID))
	s.note("delete release again", nil, api.DeleteRelease(ctx, store.ReleaseLayer, release.ID))
	all, err := api.Graphs(ctx, nil)
	s.note("all graphs", all, err)
	return s.lines
}

// runs plans, starts, stops, and resumes runs.
func (s *transcript) runs(ctx context.Context, api service.API, folder string) {
	plan, err := api.Plan(ctx, "dev", service.RunRequest{Nodes: []string{"here"}, Event: "upgrade", All: true})
	s.note("plan", plan, err)
	for _, r := range []service.RunRequest{{Type: "other"}, {Nodes: []string{"there"}}} {
		_, err = api.Plan(ctx, "dev", r)
		s.note("plan other", nil, err)
		_, err = api.Start(ctx, "dev", r)
		s.note("start other", nil, err)
	}
	note := func(what string, r service.Run, err error) {
		r.Created, r.Ended, r.Running = time.Time{}, time.Time{}, false
		for i := range r.Tasks {
			r.Tasks[i].Started, r.Tasks[i].Ended = time.Time{}, time.Time{}
		}
		s.note(what, r, err)
	}
	run, err := api.Start(ctx, "dev", service.RunRequest{})
	note("start", run, err)
	until := func(states ...store.State) {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			r, err := api.Run(ctx, run.ID)
			if err != nil || time.Now().After(deadline) {
				s.Fatalf("%+v, %v", r, err)
			}
			if i := slices.IndexFunc(r.Tasks, func(t service.TaskRun) bool { return t.Task == "wait" }); slices.Contains(states, r.State) && i >= 0 {
				return
			}
		}
	}
	until(store.Running)
	_, err = api.Start(ctx, "dev", service.RunRequest{})
	s.note("start again", nil, err)
	_, err = api.Stop(ctx, run.ID)
	s.note("stop", nil, err)
	time.Sleep(400 * time.Millisecond) // longer than a third of the engine's lease, after which it checks for a stop
	must.Do(s, os.WriteFile(filepath.Join(folder, "go"), nil, 0o600))
	until(store.Canceled)
	_, err = api.Resume(ctx, run.ID, &service.Answer{Number: 0, Done: true})
	s.note("resume with an answer", nil, err)
	_, err = api.Resume(ctx, run.ID, nil)
	s.note("resume", nil, err)
	until(store.Done)
	run, err = api.Run(ctx, run.ID)
	note("run", run, err)
	_, err = api.Resume(ctx, run.ID, nil)
	s.note("resume what is done", nil, err)
	_, err = api.Stop(ctx, 777)
	s.note("stop other", nil, err)
	all, err := api.Runs(ctx, "dev", run.ID+1, 10)
	for _, r := range all {
		note("listed", r, err)
	}
	all, err = api.Runs(ctx, "dev", run.ID, 10)
	s.note("earlier", len(all), err)
	events, err := api.Events(ctx, run.ID, 0)
	s.note("events", len(events), err)
	later, err := api.Events(ctx, run.ID, events[1].Serial)
	if err != nil || !reflect.DeepEqual(later, events[2:]) {
		s.Errorf("events: %+v, then %+v", events, later)
	}
	_, err = api.Events(ctx, 777, 0)
	s.note("other events", nil, err)
}

// The client behaves like the service that it calls.
func TestClientConformance(t *testing.T) {
	t.Parallel()
	direct := build(t)
	want := scenario(t, direct.service, direct.folder)
	w := start(t)
	c := must.Get(client.New(client.Options{URL: w.url + "/", Token: w.tokens[server.Deploy]}))(t)
	got := scenario(t, c, w.folder)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("transcripts differ at line %d: client:\n%s\nservice:\n%s", i, strings.Join(got[i:], "\n"), strings.Join(want[i:], "\n"))
		}
	}
	if len(want) < 60 || !strings.Contains(strings.Join(want, "\n"), "12345678901234567890.5") {
		t.Errorf("the transcript is too short or lacks the exact number:\n%s", strings.Join(want, "\n"))
	}
}

// TestClientErrors covers invalid options and responses that 'lumi serve' never sends.
func TestClientErrors(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"lumi.example.com":              "must be a URL such as https://lumi.example.com:8440",
		"ftp://lumi.example.com":        "must be a URL such as https://lumi.example.com:8440",
		"https://user:secret@localhost": "must be a URL such as https://lumi.example.com:8440",
		"https://localhost?token=x":     "must be a URL such as https://lumi.example.com:8440",
		"http://lumi.example.com":       "http://lumi.example.com would receive the token unencrypted: use https",
		"http://10.0.0.1:8440":          "http://10.0.0.1:8440 would receive the token unencrypted: use https",
	} {
		if _, err := client.New(client.Options{URL: url}); err == nil || err.Error() != want {
			t.Errorf("New(%s) = %v, want %q", url, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.Do(t, os.WriteFile(file, []byte("none"), 0o600))
	if _, err := client.New(client.Options{URL: "https://localhost", CA: file}); err == nil || err.Error() != file+" contains no PEM certificate" {
		t.Errorf("New with an invalid CA file = %v, want an error", err)
	}
	if _, err := client.New(client.Options{URL: "https://localhost", CA: file + "x"}); !os.IsNotExist(err) {
		t.Errorf("New with a missing CA file = %v, want a not-exist error", err)
	}

	followed := false
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/graphs/1":
			_, _ = io.WriteString(w, "<html>")
		case "/graphs/2":
			http.Redirect(w, r, "/graphs/9", http.StatusTemporaryRedirect)
		case "/graphs/3":
			http.Error(w, "no", http.StatusBadGateway)
		case "/graphs/4":
			<-r.Context().Done()
		case "/graphs/5":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"id": 5`)
		case "/graphs/9":
			followed = true
		}
	}))
	defer odd.Close()
	ours := start(t)
	get := func(url string, id int64) string {
		c, err := client.New(client.Options{URL: url, Token: ours.tokens[server.Read], Timeout: 300 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if id == 0 {
			err = c.Delete(t.Context(), 1)
		} else {
			_, err = c.Graph(t.Context(), id)
		}
		return fmt.Sprint(err)
	}
	for id, want := range []string{
		1: odd.URL + " does not answer like 'lumi serve': invalid character '<' looking for beginning of value",
		2: odd.URL + " does not answer like 'lumi serve': 307 Temporary Redirect",
		3: odd.URL + " does not answer like 'lumi serve': 502 Bad Gateway",
	} {
		if got := get(odd.URL, int64(id)); id > 0 && got != want {
			t.Errorf("Graph(%d) = %q, want %q", id, got, want)
		}
	}
	if followed {
		t.Error("the client followed a redirect, want the token not sent elsewhere")
	}
	if got := get(odd.URL, 5); got != odd.URL+": unexpected EOF" {
		t.Errorf("error for a truncated response = %q", got)
	}
	if got := get(odd.URL, 4); !strings.Contains(got, "Client.Timeout exceeded") {
		t.Errorf("error for a slow response = %q, want a timeout", got)
	}
	if got := get(ours.url, 0); got != ours.url+": the role deploy is required; the token has read" {
		t.Errorf("error for an insufficient role = %q", got)
	}
	ours.tokens[server.Read] = "x"
	if got := get(ours.url, 1); got != ours.url+" rejected the token: set LUMI_TOKEN to a token known to 'lumi serve'" {
		t.Errorf("error for an invalid token = %q", got)
	}
}
