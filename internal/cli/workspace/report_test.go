package workspace

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/view"
)

type recorder struct {
	view.Reporter
	events []store.Event
}

func (r *recorder) Event(e store.Event) { r.events = append(r.events, e) }

func TestProviderLog(t *testing.T) {
	r := &recorder{}
	var reporter view.Reporter = r
	s := &Session{}
	s.Reporter.Store(&reporter)
	l := &ProviderLog{Session: s, Name: "plugin for package \"local\""}
	endless := bytes.Repeat([]byte("x"), maxLogLine)
	for _, data := range [][]byte{[]byte("one\r\ntw"), []byte("o\n"), endless[:maxLogLine/2], endless[maxLogLine/2:], []byte("end\n")} {
		if n, err := l.Write(data); n != len(data) || err != nil {
			t.Fatalf("Write = %d, %v, want %d and no error", n, err, len(data))
		}
	}
	var got []string
	for _, e := range r.events {
		got = append(got, e.Message)
	}
	const prefix = `plugin for package "local": `
	if want := []string{prefix + "one", prefix + "two", prefix + string(endless), prefix + "end"}; !slices.Equal(got, want) {
		t.Errorf("got %d events, want the 4 lines as separate events", len(got))
	}
}
