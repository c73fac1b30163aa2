package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/server/client"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// open requests the stream of a run with the given header Last-Event-ID, and returns its lines.
func (w *world) open(path, last string) *bufio.Scanner {
	w.Helper()
	r := must.Get(http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, nil))(w)
	r.Header.Set("Authorization", "Bearer "+w.tokens[server.Read])
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	a, err := http.DefaultClient.Do(r)
	must.Do(w, err)
	w.Cleanup(func() { a.Body.Close() })
	if kind := a.Header.Get("Content-Type"); a.StatusCode != http.StatusOK || kind != "text/event-stream" {
		w.Fatalf("GET %s = %s, Content-Type %s, want a stream", path, a.Status, kind)
	}
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// finish lets the task of the graph waiting end.
func (w *world) finish() { must.Do(w, os.WriteFile(filepath.Join(w.folder, "go"), nil, 0o600)) }

// A stream has all events of a run with their serials, comments while nothing happens, and the run as its end. The
// timeouts of requests do not apply.
func TestStream(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.options.ReadTimeout, w.options.WriteTimeout, w.options.Heartbeat = 200*time.Millisecond, 200*time.Millisecond, 50*time.Millisecond
	w.serve()
	r := w.begin()
	path := fmt.Sprintf("/runs/%d/events", r.ID)
	lines, comments := w.open(path, ""), 0
	var text []string
	for lines.Scan() {
		if lines.Text() == ":" {
			if comments++; comments == 4 { // more than a second later
				w.finish()
			}
			lines.Scan() // the empty line that ends the comment
			continue
		}
		text = append(text, lines.Text())
	}
	var events []store.Event
	w.must(200, "GET", path, "", &events)
	var want []string
	for _, e := range events {
		want = append(want, fmt.Sprintf("id: %d", e.Serial), "data: "+string(must.Get(json.Marshal(e))(t)), "")
	}
	end := strings.TrimSpace(w.must(200, "GET", fmt.Sprintf("/runs/%d", r.ID), "", nil).body)
	if want = append(want, "event: end", "data: "+end, ""); !reflect.DeepEqual(text, want) || lines.Err() != nil {
		t.Errorf("stream = %s\n%v, want\n%s", strings.Join(text, "\n"), lines.Err(), strings.Join(want, "\n"))
	}
	if !strings.Contains(end, `"state":"DONE"`) || len(events) < 4 || comments < 4 {
		t.Errorf("%d comments and %d events, then %s, want at least 4 of each and a successful run", comments, len(events), end)
	}

	// A stream resumes after the last event, given by the header or the parameter.
	second := fmt.Sprint(events[1].Serial)
	for _, c := range [][2]string{{path, second}, {path + "?after=" + second, ""}, {path + "?after=0", second}} {
		if lines := w.open(c[0], c[1]); !lines.Scan() || lines.Text() != want[6] {
			t.Errorf("first line of %s after %q = %q, want %q", c[0], c[1], lines.Text(), want[6])
		}
	}
}

// Errors are responses with a status, even if the client accepts only a stream.
func TestStreamErrors(t *testing.T) {
	t.Parallel()
	w := start(t)
	for path, want := range map[string]string{
		"/runs/77/events": "404 run 77 does not exist", "/runs/77/events?after=x": "400 query.after: invalid integer", "/runs/77/events?last=1": `400 unknown query parameter "last"; expected after`,
	} {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil))(t)
		r.Header.Set("Authorization", "Bearer "+w.tokens[server.Read])
		r.Header.Set("Accept", "text/event-stream")
		if a := w.do(r); fmt.Sprintf("%d %s", a.status, a.problem(t)) != want {
			t.Errorf("GET %s = %d %s, want %s", path, a.status, a.body, want)
		}
	}
}

// When the server stops, the streams of its own runs end with them; others are cut off and do not delay it.
func TestStreamShutdown(t *testing.T) {
	t.Parallel()
	w := build(t)
	ended := make(chan error, 1)
	w.service.Go = func(environment string, id int64) { // like another process, which the server does not stop
		go func() {
			_, err := w.service.Engine(environment).Run(context.Background(), id)
			ended <- err
		}()
	}
	stop, done := w.serve()
	r := w.begin()
	lines := w.open(fmt.Sprintf("/runs/%d/events", r.ID), "")
	lines.Scan()
	stop()
	select {
	case err := <-done:
		must.Do(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("Serve did not return within 20s")
	}
	for lines.Scan() {
		if lines.Text() == "event: end" {
			t.Error("the stream ended, want it cut off because the run goes on")
		}
	}
	w.finish()
	must.Do(t, <-ended)

	w = build(t)
	stop, done = w.serve()
	r = w.begin()
	lines = w.open(fmt.Sprintf("/runs/%d/events", r.ID), "")
	lines.Scan()
	stop()
	w.finish()
	var text []string
	for lines.Scan() {
		text = append(text, lines.Text())
	}
	if all := strings.Join(text, "\n"); !strings.Contains(all, "event: end\ndata: {") || !strings.Contains(all, `"state":"CANCELLED"`) {
		t.Errorf("stream = %s, want the end of the run", all)
	}
	must.Do(t, <-done)
}

// A follower continues after the last event when the server is back, and sees each event once.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.serve()
	r := w.begin()
	// The follower uses a second server, which restarts while the run continues.
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	serve := func(l net.Listener) *http.Server {
		s := &http.Server{Handler: server.New(w.options), ReadHeaderTimeout: time.Minute}
		go func() { _ = s.Serve(l) }()
		return s
	}
	first := serve(l)
	var mutex sync.Mutex
	var reports []string
	report := func(message string) {
		mutex.Lock()
		defer mutex.Unlock()
		reports = append(reports, message)
	}
	options := client.Options{URL: "http://" + address, Token: w.tokens[server.Read], Report: report}
	c := must.Get(client.New(options))(t)
	var serials []int64
	cut := make(chan bool, 1)
	type result struct {
		run service.Run
		err error
	}
	followed := make(chan result, 1)
	go func() {
		run, err := c.Follow(t.Context(), r.ID, 0, func(events []store.Event) error {
			for _, e := range events {
				serials = append(serials, e.Serial)
			}
			select {
			case cut <- true:
			default:
			}
			return nil
		})
		followed <- result{run, err}
	}()
	<-cut
	must.Do(t, first.Close())
	time.Sleep(400 * time.Millisecond) // the follower tries in vain
	second := serve(must.Get(net.Listen("tcp", address))(t))
	defer second.Close()
	w.finish()
	got := <-followed
	var want []int64
	for _, e := range must.Get(w.service.Events(t.Context(), r.ID, 0))(t) {
		want = append(want, e.Serial)
	}
	if got.err != nil || got.run.State != store.Done || !reflect.DeepEqual(serials, want) {
		t.Errorf("Follow = %+v, %v after events %v, want DONE after %v", got.run, got.err, serials, want)
	}
	mutex.Lock()
	defer mutex.Unlock()
	if len(reports) != 2 || !strings.HasPrefix(reports[0], "lost the connection: http://"+address+": ") || !strings.HasSuffix(reports[0], "; trying to connect for 5m0s") ||
		reports[1] != "connected to http://"+address+" again" {
		t.Errorf("reports = %q, want the loss of the connection and a new one", reports)
	}
}

// Follow gives up if the server does not come back, and at once for errors other than lost connections.
func TestFollowErrors(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.must(201, "POST", "/clusters/dev/deployment_graphs/", waiting, nil)
	var r service.Run
	w.must(201, "PUT", "/clusters/dev/deploy/", "", &r)
	follow := func(url, token string, id int64, show error) string {
		c := must.Get(client.New(client.Options{URL: url, Token: token, Timeout: time.Second, Reconnect: 300 * time.Millisecond}))(t)
		_, err := c.Follow(t.Context(), id, 0, func([]store.Event) error { return show })
		return fmt.Sprint(err)
	}
	tries := 0
	odd := http.NewServeMux()
	odd.HandleFunc("/runs/1/events", func(a http.ResponseWriter, _ *http.Request) { tries++; a.WriteHeader(http.StatusBadGateway) })
	odd.HandleFunc("/runs/2/events", func(a http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(a, "{}") })
	odd.HandleFunc("/runs/3/events", func(a http.ResponseWriter, _ *http.Request) {
		a.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(a, "data: ?\n\n")
	})
	odd.HandleFunc("/runs/4/events", func(a http.ResponseWriter, q *http.Request) {
		a.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(a).Flush()
		<-q.Context().Done()
	})
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &http.Server{Handler: odd, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	url, free := "http://"+l.Addr().String(), must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Do(t, free.Close())
	for _, c := range []struct{ got, want string }{
		{follow(w.url, w.tokens[server.Read], 77, nil), "run 77 does not exist"},
		{follow(w.url, "x", r.ID, nil), w.url + " rejected the token: set LUMI_TOKEN to a token known to 'lumi serve'"},
		{follow(w.url, w.tokens[server.Read], r.ID, errors.New("cannot print")), "cannot print"},
		{follow("http://"+free.Addr().String(), "x", 1, nil), "http://" + free.Addr().String() + ": dial tcp " + free.Addr().String() + ": connect: connection refused"},
		{follow(url, "x", 1, nil), url + " does not answer like 'lumi serve': 502 Bad Gateway"},
		{follow(url, "x", 2, nil), url + " does not answer like 'lumi serve': no stream of events"},
		{follow(url, "x", 3, nil), url + " does not answer like 'lumi serve': invalid character '?' looking for beginning of value"},
		{follow(url, "x", 4, nil), url + ": no data for 1s"},
	} {
		if c.got != c.want {
			t.Errorf("Follow = %q, want %q", c.got, c.want)
		}
	}
	if tries < 2 {
		t.Errorf("%d requests were sent to the bad gateway, want several", tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := must.Get(client.New(client.Options{URL: "http://" + free.Addr().String()}))(t)
	if _, err := c.Follow(ctx, 1, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Follow with a canceled context = %v", err)
	}
	w.finish()
}
