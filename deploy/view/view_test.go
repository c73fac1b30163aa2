package view

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/term"
)

var update = flag.Bool("update", false, "update golden files")

var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// line is a line of an archive: an event or a wait.
type line struct {
	event store.Event
	waits map[string][]string
}

// parse parses lines with a time, a deployment, a step, a state or level or STATE+LEVEL, and a message, which may be quoted. A step is
// "." or a resource as kind/type/name, followed by "<" and the former name of a moved resource. The deployment of a
// provider's message may be "?". A line "TIME waits NAME TEXT…" sets the waits.
func parse(t *testing.T, text string) (all []line) {
	waits, ids := map[string][]string{}, map[string]int64{"?": 0}
	for row := range strings.Lines(text) {
		words := strings.Fields(row)
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		e := store.Event{Time: start.Add(at)}
		if words[1] == "waits" {
			waits = map[string][]string{}
			for _, part := range strings.Split(strings.Join(words[2:], " "), ", ") {
				name, text, _ := strings.Cut(part, " ")
				waits[name] = append(waits[name], text)
			}
			all = append(all, line{e, waits})
			continue
		}
		if _, ok := ids[words[1]]; !ok {
			ids[words[1]] = int64(len(ids))
		}
		e.Name, e.Deployment = strings.Trim(words[1], "?"), ids[words[1]]
		if parts := strings.SplitN(words[2], "/", 3); len(parts) == 3 {
			name, was, moved := strings.Cut(parts[2], "<")
			of := func(name string) string { return "urn:lumi:dev::shop:index::" + parts[1] + "::" + name }
			e.Kind, e.URN, e.Task = parts[0], of(name), 1
			if e.Source = fmt.Sprintf("shop/%s.ts:%d:15", name, e.Deployment); e.Kind == "execute" {
				e.URN, e.Source = parts[1]+"/"+parts[2], ""
			}
			if moved {
				e.Was = of(was)
			}
		} else if words[2] == "task" {
			e.Task = 1
		}
		if e.Message = strings.Join(words[4:], " "); strings.HasPrefix(e.Message, `"`) {
			if e.Message, err = strconv.Unquote(e.Message); err != nil {
				t.Fatal(err)
			}
		}
		if state, level, _ := strings.Cut(words[3], "+"); state == strings.ToUpper(state) {
			e.State, e.Level = store.State(state), level
		} else {
			e.Level = words[3]
		}
		all = append(all, line{e, waits})
	}
	return all
}

func options(color bool) Options { return Options{Color: color} }

// TestGolden formats the events of each archive in testdata in each form found in the archive: "lines", "lines color",
// "lines verbose", "json", "final", or "tree WIDTHxHEIGHT TIME", which may be followed by " color".
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in testdata: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all := parse(t, string(archive.Files[0].Data))
			for i := range archive.Files[1:] {
				f := &archive.Files[i+1]
				got := shown(t, f.Name, all)
				if *update {
					f.Data = []byte(got)
				} else if got != string(f.Data) {
					t.Errorf("%s =\n%s\nwant\n%s", f.Name, got, f.Data)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func shown(t *testing.T, form string, all []line) string {
	o := options(strings.Contains(form, "color"))
	var out bytes.Buffer
	var r Reporter
	switch words := strings.Fields(form); words[0] {
	case "lines":
		o.Verbose = strings.Contains(form, "verbose")
		r = NewLines(&out, o)
	case "json":
		r = NewJSON(&out)
	default:
		s := newState(o)
		now := all[len(all)-1].event.Time
		width, height := 0, 0
		if words[0] == "tree" {
			var err error
			_, err = fmt.Sscanf(words[1], "%dx%d", &width, &height)
			at, wrong := time.ParseDuration(words[2])
			if err != nil || wrong != nil {
				t.Fatalf("malformed form %q", form)
			}
			now = start.Add(at)
		}
		for _, l := range all {
			if l.event.Time.After(now) {
				break
			}
			s.waits = l.waits
			if l.event.State != "" || l.event.Level != "" {
				s.event(l.event)
			}
		}
		if words[0] == "final" {
			return s.final(now)
		}
		got := s.render(width, height, now)
		fits(t, got, width, height)
		return strings.ReplaceAll(got, "\x1b", "ESC") + "\n"
	}
	for _, l := range all {
		r.Waits(l.waits)
		if l.event.State != "" || l.event.Level != "" {
			r.Event(l.event)
		}
	}
	r.Close()
	return strings.ReplaceAll(out.String(), "\x1b", "ESC")
}

func fits(t *testing.T, frame string, width, height int) {
	t.Helper()
	rows := strings.Split(frame, "\n")
	if len(rows) > max(height, 1) || height <= 0 && frame != "" {
		t.Errorf("frame has %d rows, want at most %d", len(rows), height)
	}
	for _, row := range rows {
		if term.Width(row) > max(width, 1) {
			t.Errorf("row has %d columns, want at most %d: %q", term.Width(row), width, row)
		}
	}
}

// TestRenderManySteps renders deployments with 5,000 steps after 20,000 events whose texts contain control characters.
func TestRenderManySteps(t *testing.T) {
	s := newState(options(false))
	now := start
	for i := range 20_000 {
		now = now.Add(10 * time.Millisecond)
		number, round := i%5000, i/5000
		e := store.Event{
			Time: now, Deployment: int64(number % 7), Name: fmt.Sprintf("模块\x1b[%d]", number%7), Task: 1, Kind: "create",
			URN: fmt.Sprintf("urn:lumi:dev::shop:index::aws:s3:Bucket::👩\u200d💻%d", number),
		}
		switch {
		case round == 0:
			e.State = store.Started
		case round == 1:
			e.Level, e.Message = "progress", "10 %\x1b[2J\u202e\nof it"
		case round == 2 && number%3 == 0:
			e.State, e.Message = store.Failed, strings.Repeat("a rather long message\x07 ", 150)
		case round == 3 && number%3 == 1:
			e.State = store.Done
		default:
			e.State, e.URN, e.Kind, e.Task = store.Running, "", "", 0
		}
		s.event(e)
		if i%5000 != 4999 {
			continue
		}
		for _, size := range [][2]int{{80, 24}, {80, 1}, {1, 24}, {3, 3}, {200, 2}, {0, 0}, {10, -1}, {300, 8000}} {
			frame := s.render(size[0], size[1], now)
			fits(t, frame, size[0], size[1])
			if unsafe := strings.ReplaceAll(frame, "\n", ""); term.Visible(unsafe) != unsafe {
				t.Fatalf("frame contains control characters: %q", frame)
			}
		}
	}
	if final := strings.ReplaceAll(s.final(now), "\n", ""); term.Visible(final) != final {
		t.Error("final output contains control characters")
	}
}

func BenchmarkRender(b *testing.B) {
	for _, end := range []store.State{store.Done, store.Failed} {
		b.Run(string(end), func(b *testing.B) {
			s := newState(options(true))
			for i := range 5000 {
				e := store.Event{Time: start, Name: "shop[7]", Kind: "create", URN: fmt.Sprintf("urn:lumi:dev::shop:index::aws:s3:Bucket::b%d", i)}
				for _, e.State = range []store.State{store.Started, end} {
					e.Message = strings.Repeat("a message ", 100)
					s.event(e)
				}
			}
			for b.Loop() {
				s.render(120, 40, start)
			}
		})
	}
}
