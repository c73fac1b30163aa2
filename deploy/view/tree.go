package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/term"
)

// Ranks of rows. If not all rows fit, those with the highest ranks are omitted first.
const (
	headingRow = iota
	runningRow
	failedRow
	countRow
	detailRow
)

type row struct {
	rank int
	text string
}

type tree struct {
	*state
	now           time.Time
	width, height int
	final         bool
	// most is the maximum number of finished steps shown per deployment. If there are more, only their number is shown.
	most int
	rows []row
	left int // omitted rows
}

// render returns the tree, limited to height lines and width columns.
func (s *state) render(width, height int, now time.Time) string {
	t := tree{state: s, now: now, width: width, height: height, most: height}
	if t.add(); len(t.rows) > height {
		t.rows, t.most, t.left = nil, 0, 0
		t.add()
	}
	t.fit()
	return t.text()
}

// final returns the final output, which contains all lines of all messages.
func (s *state) final(now time.Time) string {
	t := tree{state: s, now: now, width: math.MaxInt32, height: math.MaxInt32, final: true, most: 40}
	t.add()
	return t.text() + "\n"
}

func (t *tree) text() string {
	var all []string
	for _, row := range t.rows {
		all = append(all, term.Clip(row.text, t.width))
	}
	return strings.Join(all, "\n")
}

// fit omits rows until the tree fits its height.
func (t *tree) fit() {
	if len(t.rows) <= t.height && t.left == 0 {
		return
	}
	room := t.height - 1
	t.left += len(t.rows) - max(room, 0)
	for rank := headingRow; rank <= detailRow; rank++ {
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
			if r.rank == rank {
				room--
			}
			return r.rank == rank && room < 0
		})
	}
	if t.height > 0 {
		t.row(headingRow, 0, t.paint(term.Dim, fmt.Sprintf("… and %d more", t.left)))
	}
}

func (t *tree) row(rank, depth int, text string) {
	t.rows = append(t.rows, row{rank, strings.Repeat(" ", depth) + text})
}

func (t *tree) add() {
	for _, d := range t.deployments {
		t.deployment(d)
	}
}

func (t *tree) deployment(d *deployment) {
	if d.isIdle() {
		return
	}
	end := d.ended
	if d.isRunning() {
		end = t.now
	}
	t.row(headingRow, 0, strings.TrimRight(t.nameOf(d)+"  "+t.word(d.state)+"  "+since(d.started, end), " "))
	if d.state == store.Wait {
		for _, text := range t.waits[d.name] {
			t.row(countRow, 2, "waits for "+oneLine(text))
		}
	}
	done := 0
	for _, s := range d.steps {
		if s.state == store.Done {
			done++
		}
	}
	if done > t.most {
		t.row(countRow, 2, t.paint(term.Green, "✓")+fmt.Sprintf(" %d done", done))
	}
	for _, s := range d.steps {
		if s.state != store.Done || done <= t.most {
			t.step(s)
		}
	}
	if d.skipped > 0 {
		t.row(countRow, 2, fmt.Sprintf("%d skipped", d.skipped))
	}
	t.message(d.ownMessage(), countRow, 2)
}

// spinner holds the frames of the glyph for running steps, each shown for 0.1s.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

func (t *tree) step(s *step) {
	glyph, verb, rank, end := states[s.state].glyph, s.kind, failedRow, s.ended
	switch s.state {
	case store.Done:
		rank = countRow
	case store.Started:
		rank, end, verb = runningRow, t.now, strings.TrimSuffix(s.kind, "e")+"ing"
		if !t.final {
			glyph = string(spinner[t.now.UnixMilli()/100%int64(len(spinner))])
		}
	}
	what := t.what(s, verb)
	if s.state == tolerated {
		what += "  " + t.word(tolerated)
	}
	t.row(rank, 2, strings.TrimRight(t.paint(states[s.state].style, glyph)+" "+what+"  "+since(s.started, end), " "))
	t.message(s.message, detailRow, 6)
	if s.source != "" {
		t.row(detailRow, 6, t.paint(term.Dim, term.Visible(s.source)))
	}
}

// message adds the lines of a message. It adds at most three lines unless t.final is set.
func (t *tree) message(message string, rank, depth int) {
	if message == "" {
		return
	}
	if rank == detailRow && len(t.rows) > t.height { // Wrapping thousands of messages that do not fit would be slow.
		t.left++
		return
	}
	const most = 3
	all := wrap(t.width-depth, lines(message)...)
	if len(all) > most && !t.final {
		all = append(all[:most-1], all[most-1]+" …")
	}
	for _, line := range all {
		t.row(rank, depth, line)
	}
}

// wrap wraps lines at width columns.
func wrap(width int, lines ...string) []string {
	return strings.Split(ansi.Wrap(strings.Join(lines, "\n"), max(width, 1), ""), "\n")
}
