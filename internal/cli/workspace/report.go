package workspace

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Event reports a log event from a plugin.
func (s *Session) Event(e lumi.Event) {
	level := strings.ToLower(e.Level.String())
	if e.Progress {
		level = "progress"
	}
	s.Report(store.Event{Time: time.Now().UTC(), URN: string(e.URN), Level: level, Message: e.Message})
}

// Report passes an event to the current reporter. If there is none, it prints warnings and errors.
func (s *Session) Report(e store.Event) {
	if to := s.Reporter.Load(); to != nil {
		(*to).Event(e)
	} else if e.Level == "warn" || e.Level == "error" {
		if e.URN != "" {
			e.Message = urn.URN(e.URN).Name() + ": " + e.Message
		}
		s.Say("%s: %s", e.Level, e.Message)
	} else if e.Level == "progress" {
		s.Doing("%s", e.Message)
	}
}

// maxLogLine is the length at which long log lines from plugins are split.
const maxLogLine = 64 << 10

// ProviderLog reports each line that a plugin writes to standard error.
type ProviderLog struct {
	*Session
	Name  string
	Level slog.Level
	rest  []byte
}

func (l *ProviderLog) Write(data []byte) (int, error) {
	l.rest = append(l.rest, data...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found && len(l.rest) < maxLogLine {
			return len(data), nil
		}
		l.rest = rest
		message := fmt.Sprintf("%s: %s", l.Name, bytes.TrimSuffix(line, []byte("\r")))
		if l.Level == slog.LevelInfo && l.Reporter.Load() == nil {
			l.Say("%s", message)
			continue
		}
		l.Report(store.Event{Time: time.Now().UTC(), Level: strings.ToLower(l.Level.String()), Message: message})
	}
}
