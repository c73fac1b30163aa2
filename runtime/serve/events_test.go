package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// logs is author's code that logs. how is the name of a set of messages, or the number of events.
func logs(ctx context.Context, how string, s *state) error {
	log := lumi.Log(ctx)
	switch how {
	case "levels":
		log.Debug("asking")
		log.Info("creating", "size", 3)
		lumi.Progress(ctx, "copying: %d of %d", 1, 2)
		log.Warn("slow")
		log.Error("failed", "error", errors.New("no answer"))
	case "secret":
		secret := *s.Properties.Secret
		lumi.Progress(ctx, "trying %s", secret)
		log.With("with", secret).WithGroup("group").Info("trying "+secret, "secret", secret, "any", []string{secret})
	case "stray":
		go func() {
			<-ctx.Done() // The call has returned.
			log.Info("late")
		}()
	default:
		n, err := strconv.Atoi(how)
		if err != nil {
			return err
		}
		for i := range n {
			log.Info(fmt.Sprintf("%s: %d", *s.Properties.Fixed, i))
		}
	}
	return nil
}

// recorder records the events passed to its sink.
type recorder struct {
	mu     sync.Mutex
	events []lumi.Event
}

func (r *recorder) sink(e lumi.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) all() []lumi.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func TestEvents(t *testing.T) {
	t.Run("gRPC", func(t *testing.T) {
		var got recorder
		p := startFor(t, "configurable", got.sink)
		testEvents(t, p, &got)
		must.Do(t, p.Close())
		if log := p.log.String(); log != "" {
			t.Errorf("log = %s, want no events in it", log)
		}
	})
	t.Run("Local", func(t *testing.T) { testEvents(t, local(t, "configurable"), new(recorder)) })
}

// testEvents checks the events of calls, which got records.
func testEvents(t *testing.T, p called, got *recorder) {
	ctx := lumi.WithEvents(within(t), got.sink) // for a Local
	must.Do(t, p.Configure(ctx, configuration("log")))
	want := []lumi.Event{{Level: slog.LevelInfo, Message: `configuring password="(secret)"`}}
	expect.Equal(t, want, got.all(), "Configure")
	things := must.Get(p.Resource(thingToken))(t)
	for name, call := range map[string]func(context.Context, lumi.ResourceProvider) (any, error){
		"check":   check(thingBag("log levels")),
		"create":  create(thingBag("log levels"), nil),
		"partly":  create(thingBag("partly log levels"), nil),
		"find":    find(thingBag("log levels"), "x"),
		"inspect": inspect(thingBag("nothing"), thingBag("log levels")),
		"update":  update(thingBag("nothing"), thingBag("log levels")),
		"delete":  remove(thingBag("log levels")),
	} {
		before := len(got.all())
		if _, err := call(ctx, things); err != nil {
			t.Errorf("%s returned %v, want nil", name, err)
		}
		want := []lumi.Event{
			{URN: thingURN, Level: slog.LevelDebug, Message: "asking"},
			{URN: thingURN, Level: slog.LevelInfo, Message: "creating size=3"},
			{URN: thingURN, Level: slog.LevelInfo, Message: "copying: 1 of 2", Progress: true},
			{URN: thingURN, Level: slog.LevelWarn, Message: "slow"},
			{URN: thingURN, Level: slog.LevelError, Message: `failed error="no answer"`},
		}
		if diff := cmp.Diff(want, got.all()[before:]); diff != "" {
			t.Errorf("events of %s (-want +got):\n%s", name, diff)
		}
	}
	before := len(got.all())
	must.Get(create(thingBag("log secret", "secret", hush), nil)(ctx, things))(t)
	want = []lumi.Event{
		{URN: thingURN, Level: slog.LevelInfo, Message: "trying (secret)", Progress: true},
		{URN: thingURN, Level: slog.LevelInfo, Message: `trying (secret) with="(secret)" group.secret="(secret)" group.any="[(secret)]"`},
	}
	expect.Equal(t, want, got.all()[before:], "secrets")
}

// Each concurrent call returns after all of its events have arrived in order.
func TestEventsConcurrent(t *testing.T) {
	var got recorder
	slow := func(e lumi.Event) {
		time.Sleep(100 * time.Microsecond)
		got.sink(e)
	}
	things := startFor(t, "plugin", slow).resource(t, thingToken)
	ctx := within(t)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			name := fmt.Sprint("call ", i)
			if _, err := create(thingBag("log 20", "fixed", name), nil)(ctx, things); err != nil {
				t.Error(err)
			}
			n := 0
			for _, e := range got.all() {
				if strings.HasPrefix(e.Message, name+": ") {
					expect.Equal(t, fmt.Sprint(name, ": ", n), e.Message)
					n++
				}
			}
			if n != 20 {
				t.Errorf("%s returned after %d of its events, want 20", name, n)
			}
		})
	}
	group.Wait()
}

func TestEventsAfterCall(t *testing.T) {
	came := make(chan lumi.Event, 1)
	things := startFor(t, "plugin", func(e lumi.Event) { came <- e }).resource(t, thingToken)
	must.Get(create(thingBag("log stray"), nil)(within(t), things))(t)
	select {
	case e := <-came:
		if want := (lumi.Event{URN: thingURN, Message: "late"}); e != want {
			t.Errorf("event = %v, want %v", e, want)
		}
	case <-time.After(patience):
		t.Error("no event after the timeout, want one")
	}
}

// Without an event stream, events are written to the plugin's log.
func TestEventsLogged(t *testing.T) {
	const about = " provider=test urn=" + thingURN + "\n"
	common := []string{
		`level=INFO msg="creating size=3"` + about, `level=WARN msg=slow` + about,
		`level=ERROR msg="failed error=\"no answer\""` + about,
	}
	detailed := []string{`level=DEBUG msg=asking` + about, `level=DEBUG msg="copying: 1 of 2"` + about}
	for level, has := range map[string]bool{"debug": true, "": false} {
		t.Setenv("LUMI_LOG", level)
		p := start(t, "configurable")
		must.Do(t, p.Configure(within(t), configuration("log")))
		things := p.resource(t, thingToken)
		for _, how := range []string{"levels", "secret"} {
			must.Get(check(thingBag("log "+how, "secret", hush))(within(t), things))(t)
		}
		must.Do(t, p.Close())
		log := p.log.String()
		for _, want := range append(common, `msg="configuring password=\"(secret)\"" provider=test`+"\n", `msg="trying (secret) with=`) {
			if !strings.Contains(log, want) {
				t.Errorf("LUMI_LOG=%s: the log lacks %s", level, want)
			}
		}
		for _, detail := range detailed {
			if strings.Contains(log, detail) != has {
				t.Errorf("with LUMI_LOG=%s, log contains %s = %v, want %v", level, detail, !has, has)
			}
		}
		if strings.Contains(log, "hush") {
			t.Errorf("the log contains a secret:\n%s", log)
		}
	}
}

// open opens the event stream.
func (b *bare) open(t *testing.T, client lumirpc.ResourceProviderClient) grpc.ServerStreamingClient[lumirpc.Event] {
	t.Helper()
	stream := must.Get(client.Events(with(within(t), bareSecret), &lumirpc.EventsRequest{}))(t)
	if header, err := stream.Header(); err != nil || header == nil {
		_, err := stream.Recv()
		t.Fatal(err)
	}
	return stream
}

// An engine that does not read events delays responses only briefly. It blocks neither the provider nor the plugin's exit.
func TestEventsUnread(t *testing.T) {
	const n = 20_000
	b := startBare(t)
	client, _ := b.dial(t)
	b.greet(t, client)
	stream := b.open(t, client)
	call := func(do string) (metadata.MD, time.Duration) {
		t.Helper()
		var trailer metadata.MD
		began := time.Now()
		must.Get(client.Create(with(within(t), bareSecret), &lumirpc.CreateRequest{
			Type: string(thingToken), Urn: thingURN, Properties: thingBag(do, "fixed", strings.Repeat("x", 100)),
		}, grpc.Trailer(&trailer)))(t)
		return trailer, time.Since(began)
	}
	trailer, took := call("log " + strconv.Itoa(n))
	if took < settleTime || took > 20*settleTime {
		t.Errorf("the response took %v, want about %v", took, settleTime)
	}
	if trailer, took := call("nothing"); len(trailer.Get(lumirpc.EventsTrailer)) > 0 || took > settleTime/2 {
		t.Errorf("a call without events took %v with trailer %v, want no delay and no trailer", took, trailer)
	}
	received, dropped, reports := 0, 0, 0
	for received+dropped < n {
		e := must.Get(stream.Recv())(t)
		if e.GetDropped() == 0 {
			received++
			continue
		}
		dropped += int(e.GetDropped())
		reports++
		want := fmt.Sprintf("%d events were dropped because the engine reads them too slowly", e.GetDropped())
		if e.GetMessage() != want || e.GetUrn() != "" || e.GetSeverity() != lumirpc.Event_WARNING {
			t.Errorf("event = %v, want a warning with message %q", e, want)
		}
	}
	if received < maxEvents || dropped == 0 || received+dropped != n {
		t.Errorf("received %d events and dropped %d, want %d in total", received, dropped, n)
	}
	if last := trailer.Get(lumirpc.EventsTrailer); !slices.Equal(last, []string{strconv.Itoa(received + reports)}) {
		t.Errorf("trailer = %q, want %d", last, received+reports)
	}
	call("log " + strconv.Itoa(n)) // unread
	began := time.Now()
	b.stdin.Close()
	if err := b.cmd.Wait(); err != nil || time.Since(began) > 5*settleTime {
		t.Errorf("the plugin exited after %v: %v, want a clean exit within %v", time.Since(began), err, 5*settleTime)
	}
}

func TestEventsOnce(t *testing.T) {
	b := startBare(t)
	client, conn := b.dial(t)
	b.greet(t, client)
	b.open(t, client)
	refused := func() error {
		other, _ := b.dial(t)
		stream := must.Get(other.Events(with(within(t), bareSecret), &lumirpc.EventsRequest{}))(t)
		if header, _ := stream.Header(); header != nil {
			return nil
		}
		_, err := stream.Recv()
		return err
	}
	if s := status.Convert(refused()); s.Code() != codes.FailedPrecondition || s.Message() != "the events are already being read" {
		t.Errorf("second Events returned %v, want FailedPrecondition", s)
	}
	conn.Close()
	for ctx := within(t); refused() != nil; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("Events is still refused after the stream has ended")
		}
	}
}

func TestEventsUnsupported(t *testing.T) {
	p := startFor(t, "foreign", func(e lumi.Event) { t.Errorf("received event %v, want none", e) })
	must.Do(t, p.Close())
}

func TestEventsLocal(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		var got recorder
		var call context.Context
		var log bytes.Buffer
		listener := bufconn.Listen(1 << 16)
		dial := func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- Serve(ctx, Plugin{Package: "test", Resources: resources(), Configure: func(ctx context.Context, _ lumi.Bag) error {
				call = ctx
				return nil
			}}, listener, slog.New(slog.NewTextHandler(&log, nil)))
		}()
		slow := func(e lumi.Event) {
			time.Sleep(20 * time.Millisecond)
			got.sink(e)
		}
		p := must.Get(plugin.Connect(within(t), dial, slow))(t)
		must.Do(t, p.Configure(within(t), lumi.Bag{}))
		const want = "the events are already being read"
		if _, err := plugin.Connect(within(t), dial, got.sink); err == nil || err.Error() != want {
			t.Errorf("second Connect error = %v, want %s", err, want)
		}
		lumi.Log(call).Info("stray")
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		must.Do(t, p.Close())
		lumi.Log(call).Info("late")
		if all := got.all(); len(all) != 1 || all[0].Message != "stray" || !strings.Contains(log.String(), "msg=late\n") {
			t.Errorf("events = %v, log = %s, want 1 event and the late one in the log", all, &log)
		}
	}
	for ctx := within(t); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			all := make([]byte, 1<<20)
			t.Fatalf("goroutines leaked:\n%s", all[:runtime.Stack(all, true)])
		}
	}
}

// If the engine reopens the stream during a call, the trailer does not contain an event number of the old stream.
func TestEventsReopened(t *testing.T) {
	listener := bufconn.Listen(1 << 16)
	logged, goOn := make(chan bool), make(chan bool)
	go func() {
		_ = Serve(t.Context(), Plugin{Package: "test", Resources: resources(), Configure: func(ctx context.Context, _ lumi.Bag) error {
			lumi.Log(ctx).Info("one")
			close(logged)
			<-goOn
			return nil
		}}, listener, slog.New(slog.DiscardHandler))
	}()
	conn := must.Get(grpc.NewClient("passthrough:///x", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })))(t)
	defer conn.Close()
	client := lumirpc.NewResourceProviderClient(conn)
	must.Get(client.Handshake(within(t), &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion}))(t)
	first, cancel := context.WithCancel(within(t))
	stream := must.Get(client.Events(first, &lumirpc.EventsRequest{}))(t)
	must.Get(stream.Header())(t)
	var trailer metadata.MD
	result := make(chan error, 1)
	go func() {
		_, err := client.Configure(within(t), &lumirpc.ConfigureRequest{}, grpc.Trailer(&trailer))
		result <- err
	}()
	<-logged
	cancel()
	for ctx := within(t); ; time.Sleep(time.Millisecond) {
		again := must.Get(client.Events(ctx, &lumirpc.EventsRequest{}))(t)
		if header, _ := again.Header(); header != nil {
			break
		}
		if _, err := again.Recv(); status.Code(err) != codes.FailedPrecondition { // The plugin has not noticed yet.
			t.Fatal(err)
		}
	}
	close(goOn)
	if err := await(t, result); err != nil || len(trailer.Get(lumirpc.EventsTrailer)) > 0 {
		t.Errorf("call = %v with trailer %v, want nil without a trailer", err, trailer)
	}
}

// drain returns the remaining messages of a stream, which must end without an error.
func drain(t *testing.T, stream grpc.ServerStreamingClient[lumirpc.Event]) (messages []string) {
	t.Helper()
	for {
		e, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return messages
		}
		if err != nil {
			t.Fatalf("the stream ended with %v after %q, want io.EOF", err, messages)
		}
		messages = append(messages, e.GetMessage())
	}
}
