package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/term"
)

// NewLive returns a Reporter that draws a tree on a terminal, with messages of providers above it. Close replaces the
// tree with the final state, which stays on the screen. The terminal mode is not changed, so Ctrl-C sends a signal.
// Event does not block on the terminal, but Close does. If the terminal is lost, output stops. NewLive returns an error
// if out is not a terminal or cannot move its cursor.
func NewLive(out *os.File, o Options) (Reporter, error) {
	stream := term.Inspect(out, "never", os.Getenv)
	switch {
	case !stream.Terminal:
		return nil, fmt.Errorf("%s is not a terminal", out.Name())
	case os.Getenv("TERM") == "dumb":
		return nil, fmt.Errorf("%s cannot move its cursor: TERM is dumb", out.Name())
	}
	l := &live{
		state: newState(o), out: out, width: cmp.Or(stream.Width, o.Width, 80),
		wake: make(chan struct{}, 1), drawn: make(chan struct{}), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	l.program = tea.NewProgram(l, tea.WithInput(nil), tea.WithOutput(screen{out, sync.OnceFunc(func() { close(l.drawn) })}),
		tea.WithoutSignalHandler(), tea.WithColorProfile(colorprofile.ANSI)) // Options.Color determines colors
	go func() {
		defer close(l.ended)
		_, _ = l.program.Run() // Run fails only if the terminal is lost.
	}()
	go l.loop()
	return l, nil
}

type live struct {
	mutex sync.Mutex // guards the fields up to cleared
	state
	messages      []string // pending messages above the tree
	width, height int
	cleared       bool

	out     *os.File
	program *tea.Program
	once    sync.Once // for Close
	// wake is full if there is something new to draw. drawn is closed after the first frame is drawn. closing is closed
	// to stop the program, and ended when it has stopped.
	wake, drawn, closing, ended chan struct{}
}

// screen calls drawn after each write.
type screen struct {
	*os.File
	drawn func()
}

func (s screen) Write(text []byte) (int, error) {
	defer s.drawn()
	return s.File.Write(text)
}

func (l *live) Event(e store.Event) {
	l.change(func() {
		_, t := l.event(e)
		if e.State == "" && e.Level != "progress" {
			if text := l.message(e, t); text != "" {
				l.messages = append(l.messages, text)
			}
		}
	})
}

func (l *live) Waits(waits map[string][]string) {
	l.change(func() { l.waits = maps.Clone(waits) })
}

func (l *live) Close() { l.once.Do(l.end) }

func (l *live) end() {
	close(l.closing)
	<-l.ended
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.deployments) > 0 {
		_, _ = io.WriteString(l.out, l.final(time.Now()))
	}
}

func (l *live) change(f func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	f()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// loop draws changes. While a deployment is running, it draws ten frames per second.
func (l *live) loop() {
	select {
	case <-l.drawn: // Before the first frame, bubbletea prints lines at the top of the terminal.
	case <-l.ended:
	}
	for running := false; ; running = l.draw() {
		var tick <-chan time.Time
		wake := l.wake
		if running {
			tick, wake = time.After(time.Second/10), nil
		}
		select {
		case <-wake:
		case <-tick:
		case <-l.closing:
			l.draw()
			l.change(func() { l.cleared = true })
			l.program.Quit()
			return
		}
	}
}

// draw prints pending messages and draws the tree. It reports whether anything is running.
func (l *live) draw() bool {
	l.mutex.Lock()
	messages, width, running := l.messages, l.width, l.isRunning()
	l.messages = nil
	l.mutex.Unlock()
	for _, message := range messages {
		for _, line := range wrap(width-1, message) { // one at a time, since only one line fits above the tree
			l.program.Send(tea.Println(line)())
		}
	}
	l.program.Send(changed{})
	return running
}

// changed is a message that causes bubbletea to call View.
type changed struct{}

// Init, Update, and View implement [tea.Model].
func (*live) Init() tea.Cmd { return nil }

func (l *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		l.change(func() { l.width, l.height = size.Width, size.Height })
	}
	return l, nil
}

func (l *live) View() tea.View {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	v := tea.View{DisableBracketedPasteMode: true} // keeps the shell's setting
	if !l.cleared {
		v.SetContent(l.render(l.width, l.height-1, time.Now()))
	}
	return v
}
