package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/lumi-idl/lumi/deploy/store"
)

const eventStream = "text/event-stream"

// events registers the operation on the events of a run.
func (s *Server) events() {
	op := s.operation("GET /runs/{id}/events", "get-events", "Get up to 1000 events of a run, oldest first, or follow all of them")
	op.Description += " With Accept: text/event-stream, the response consists of server-sent events: each has the serial as its id and the event" +
		" as its data. When no process executes the run, the last one has the type end and the run as its data. To resume a lost stream, send its" +
		" last id."
	op.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{
		"application/json": {Schema: s.schema(reflect.TypeFor[[]store.Event]())}, eventStream: {Schema: &huma.Schema{Type: "string"}},
	}}
	huma.Register(s.api, op, func(ctx context.Context, in *struct {
		ByID
		After  int64  `query:"after" doc:"Only events with a higher serial."`
		Last   int64  `header:"Last-Event-ID" doc:"Replaces after in streams."`
		Accept string `header:"Accept" hidden:"true"`
	}) (*huma.StreamResponse, error) {
		if !strings.Contains(in.Accept, eventStream) {
			all, err := s.API.Events(ctx, in.ID, in.After)
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				ctx.SetHeader("Content-Type", "application/json")
				_ = huma.DefaultJSONFormat.Marshal(ctx.BodyWriter(), append([]store.Event{}, all...)) // the client may have closed the connection
			}}, s.problem(err)
		}
		_, err := s.API.Run(ctx, in.ID) // errors need a status, which precedes the stream
		return &huma.StreamResponse{Body: func(ctx huma.Context) { s.stream(ctx, in.ID, cmp.Or(in.Last, in.After)) }}, s.problem(err)
	})
}

// stream sends the events of a run until it ends, the client disconnects, or the server stops.
func (s *Server) stream(ctx huma.Context, id, after int64) {
	_, w := humago.Unwrap(ctx)
	ctx.SetHeader("Content-Type", eventStream)
	ctx.SetHeader("Cache-Control", "no-store")
	ctx.SetHeader("X-Accel-Buffering", "no") // nginx
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Time{}) // ReadTimeout would end the stream, and WriteTimeout limits each write instead
	live, cancel := context.WithCancel(ctx.Context())
	defer cancel()
	defer context.AfterFunc(s.streams, cancel)()
	var sent time.Time
	send := func(text string) error {
		sent = time.Now()
		_ = connection.SetWriteDeadline(sent.Add(cmp.Or(s.WriteTimeout, defaultWrite)))
		_, _ = w.Write([]byte(text)) // Flush returns the error
		return connection.Flush()
	}
	run, err := s.API.Follow(live, id, after, func(events []store.Event) error {
		var text strings.Builder
		for _, e := range events {
			data, _ := json.Marshal(e) // marshaling strings and numbers cannot fail
			fmt.Fprintf(&text, "id: %d\ndata: %s\n\n", e.Serial, data)
		}
		if len(events) == 0 && time.Since(sent) < cmp.Or(s.Heartbeat, defaultHeartbeat) {
			return nil
		} else if len(events) == 0 {
			text.WriteString(":\n\n")
		}
		return send(text.String())
	})
	if err == nil {
		data, _ := json.Marshal(run)
		_ = send(fmt.Sprintf("event: end\ndata: %s\n\n", data))
	} else if live.Err() == nil {
		s.Log.Printf("error: stream of run %d: %v", id, err) // the client resumes, and then receives the status of the error
	}
}
