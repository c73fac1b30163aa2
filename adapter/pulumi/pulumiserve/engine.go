package pulumiserve

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	lumi "github.com/lumi-idl/lumi/runtime"
)

const (
	// maxEvents is the maximum number of events waiting to be sent. Further events are dropped and counted.
	maxEvents = 1 << 10
	// settleTime is the maximum time to delay a response until its call's events are sent.
	settleTime = time.Second
)

// engine is the engine that uses the plugin.
type engine struct {
	conn    *grpc.ClientConn
	queue   chan queued
	dropped atomic.Int64
}

// queued is an event, or a mark that all events before it are sent.
type queued struct {
	event *pulumirpc.LogRequest
	mark  chan struct{}
}

// connect sets the engine that gets the events, unless it is known already.
func (s *server) connect(address string) error {
	if s.engine.Load() != nil || address == "" {
		return nil
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return statusOf(err)
	}
	e := &engine{conn: conn, queue: make(chan queued, maxEvents)}
	if !s.engine.CompareAndSwap(nil, e) {
		return conn.Close()
	}
	go e.send()
	return nil
}

// send sends events in order. Those that the engine does not accept are lost.
func (e *engine) send() {
	client := pulumirpc.NewEngineClient(e.conn)
	for next := range e.queue {
		if next.mark != nil {
			close(next.mark)
			continue
		}
		if n := e.dropped.Swap(0); n > 0 {
			message := fmt.Sprintf("%d events were dropped because the engine reads them too slowly", n)
			_, _ = client.Log(context.Background(), &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_WARNING, Message: message})
		}
		_, _ = client.Log(context.Background(), next.event)
	}
}

// add queues an event of a call, which may have ended.
func (e *engine) add(urn string, event lumi.Event) {
	request := &pulumirpc.LogRequest{Urn: urn, Message: event.Message, Ephemeral: event.Progress, Severity: severity(event.Level)}
	select {
	case e.queue <- queued{event: request}:
	default:
		e.dropped.Add(1)
	}
}

// severity returns the severity of an event. Errors are warnings, since only the outcome of a call is a reason to stop.
func severity(level slog.Level) pulumirpc.LogSeverity {
	switch {
	case level < slog.LevelInfo:
		return pulumirpc.LogSeverity_DEBUG
	case level < slog.LevelWarn:
		return pulumirpc.LogSeverity_INFO
	}
	return pulumirpc.LogSeverity_WARNING
}

// flush waits until the events added so far are sent, but not for long.
func (e *engine) flush() {
	timeout, mark := time.After(settleTime), make(chan struct{})
	select {
	case e.queue <- queued{mark: mark}:
	case <-timeout:
		return
	}
	select {
	case <-mark:
	case <-timeout:
	}
}

// watch returns when nothing answers at the engine's address any more.
func (e *engine) watch() {
	for {
		e.conn.Connect()
		state := e.conn.GetState()
		if state == connectivity.TransientFailure || !e.conn.WaitForStateChange(context.Background(), state) {
			return
		}
	}
}
