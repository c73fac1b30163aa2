package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// lostError means that the connection to the server was lost, or could not be made.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// Follow implements [service.API]. If it loses the connection, for example because the server restarts, it connects again
// and continues after the last event.
func (r *remote) Follow(ctx context.Context, id, after int64, show func([]Event) error) (Run, error) {
	const first, longest = 100 * time.Millisecond, 5 * time.Second
	seen, wait := time.Now(), first
	for {
		run, err := r.client.stream(ctx, id, after, func() {
			if wait > first {
				r.report("connected to " + r.client.URL + " again")
			}
			seen, wait = time.Now(), first
		}, func(e Event) error {
			after = e.Serial
			return show([]Event{e})
		})
		lost, isLost := errors.AsType[lostError](err)
		if !isLost || ctx.Err() != nil || time.Since(seen) > r.reconnect {
			return run, err
		}
		if wait == first {
			r.report(fmt.Sprintf("lost the connection: %v; trying to connect for %s", lost, r.reconnect))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, longest)
	}
}

// stream requests the events of a run. It calls alive for each line that it receives, and show for each event. It returns
// a [lostError] if the response ends before the run does.
func (c *Client) stream(ctx context.Context, id, after int64, alive func(), show func(Event) error) (run Run, err error) {
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	by, silence := c.HTTP, cmp.Or(c.HTTP.Timeout, defaultTimeout)
	by.Timeout = 0 // the stream may take as long as the run, but not be silent for as long
	timer := time.AfterFunc(silence, cancel)
	defer timer.Stop()
	lost := func(err error) error {
		if live.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: no data for %s", c.URL, silence)
		}
		return lostError{err}
	}
	a, err := c.do(live, by, http.MethodGet, fmt.Sprintf("/runs/%d/events?after=%d", id, after), http.Header{"Accept": {"text/event-stream"}}, nil)
	if err != nil {
		return run, lost(err)
	}
	defer func() { _ = a.Body.Close() }()
	if a.StatusCode != http.StatusOK {
		_, err = result(receive[Run](c, a))
		if a.StatusCode >= http.StatusBadGateway { // a proxy has no server
			err = lost(err)
		}
		return run, err
	}
	if a.Header.Get("Content-Type") != "text/event-stream" {
		return run, fmt.Errorf("%s does not answer like 'lumi serve': no stream of events", c.URL)
	}
	var kind, data []byte
	for lines := bufio.NewReader(a.Body); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return run, lost(fmt.Errorf("%s: %w", c.URL, err))
		}
		timer.Reset(silence)
		alive()
		name, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
		switch {
		case string(name) == "event":
			kind = value
		case string(name) == "data":
			data = value
		case len(name) > 0 || data == nil: // a comment, or an id, which the data repeats
		case string(kind) == "end":
			return run, json.Unmarshal(data, &run)
		default:
			var e Event
			if err := json.Unmarshal(data, &e); err != nil {
				return run, fmt.Errorf("%s does not answer like 'lumi serve': %w", c.URL, err)
			}
			if err := show(e); err != nil {
				return run, err
			}
			kind, data = nil, nil
		}
	}
}
