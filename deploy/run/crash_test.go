//go:build linux || darwin

package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// crashPrograms are deployed in order. Type Net is idempotent, Disk implements Find, and Key has neither ability. The Keys
// are created one after the other, so that at most one is in creation when an executor is killed.
var crashPrograms = []string{
	`Net/a size=1
	 Disk/b on=[@a]
	 Key/c at=@b.arn
	 Key/d on=[@c]
	 Disk/e zone="x"
	 Disk/f
	 Disk/u name=unique:u at=x !replaceOnChanges=["at"]
	 Net/weak fail="once"`,
	// This program has an update, an update of a dependent, replacements with a new name and with a unique one, a replacement
	// that deletes first, a deletion, and a creation that fails the first time.
	`Net/a size=2
	 Disk/b on=[@a]
	 Key/c at=@b.arn size=3
	 Key/d2 name=d2x on=[@c] !aliases=d
	 Disk/e zone="y"
	 Disk/u name=unique:u at=y !replaceOnChanges=["at"]
	 Disk/v at=@u.name
	 Net/weak fail="once"
	 Disk/weak2 fail="once"`,
	``,
}

// site is a folder for deployments that contains a database, a cloud, and programs.
type site struct {
	t *testing.T
	childJob
	opened *environment.Environment
	close  func() error
}

func newSite(t *testing.T, programs ...string) *site {
	t.Helper()
	s := &site{t: t, childJob: childJob{Folder: t.TempDir(), Number: 1}}
	s.must(os.MkdirAll(s.cloud().path("things"), 0o700))
	for i, p := range programs {
		var text []byte
		if strings.HasPrefix(p, "{") {
			text = []byte(p)
		} else if p != "" {
			var err error
			text, err = lumigl.Append(nil, (&world{t: t}).desired("a", p))
			s.must(err)
		}
		s.Number = int64(i + 1)
		s.must(os.WriteFile(s.program(), text, 0o600))
	}
	s.Number = 1
	db, err := s.open(t.Context())
	s.must(err)
	s.must(environment.Add(t.Context(), db, store.Environment{Name: "dev", Lineage: "lineage"}))
	s.must(db.Close())
	return s
}

// copy returns a site with a copy of all files.
func (s *site) copy(t *testing.T) *site {
	t.Helper()
	to := &site{t: t, childJob: childJob{Folder: t.TempDir(), Number: s.Number, Abort: s.Abort, Provisioners: s.Provisioners}}
	s.must(os.RemoveAll(to.Folder))
	s.must(os.CopyFS(to.Folder, os.DirFS(s.Folder)))
	to.adopt()
	return to
}

// adopt makes a copied database writable, without the questions of 'lumi state adopt'.
func (s *site) adopt() {
	s.t.Helper()
	db, err := sqlite.Open(s.t.Context(), s.db(), sqlite.Options{})
	s.must(err)
	s.must(db.Adopt(s.t.Context(), func(store.Tx) error { return nil }))
	s.must(db.Close())
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) start(j *childJob) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	text, err := json.Marshal(j)
	s.must(err)
	self, err := os.Executable()
	s.must(err)
	var out bytes.Buffer
	c := exec.CommandContext(s.t.Context(), self)
	c.Env = append(os.Environ(), jobVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	c.Stdout, c.Stderr, c.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	s.must(c.Start())
	return c, &out
}

// killed runs an executor, which may be killed at a point, and waits until its plugins have exited. If the executor was
// not killed, killed returns the number of points reached and true.
func (s *site) killed(j *childJob) (points int, ended bool) {
	s.t.Helper()
	c, out := s.start(j)
	err := c.Wait()
	lock(s.cloud().path("alive"), syscall.LOCK_EX).Close()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
		return 0, false
	}
	if _, scanned := fmt.Sscan(out.String(), &points); err != nil || scanned != nil {
		s.t.Fatalf("executor exited with %v:\n%s", err, out)
	}
	return points, true
}

// here returns the environment with the engine of this process.
func (s *site) here() *environment.Environment {
	s.t.Helper()
	if s.opened == nil {
		db, err := s.open(s.t.Context())
		s.must(err)
		pool := s.pool()
		end := sync.OnceValue(func() error { return errors.Join(pool.Close(), db.Close()) })
		s.t.Cleanup(func() { s.must(end()) })
		s.close = func() error {
			s.opened = nil
			return end()
		}
		s.opened = s.engine(watchedStore{db, &s.childJob}, watchedProviders{pool, &s.childJob})
	}
	return s.opened
}

// expire ends the leases of all deployments, as if their executors had been killed long ago.
func (s *site) expire() {
	s.t.Helper()
	s.must(s.here().Store.Write(s.t.Context(), "dev", func(tx store.Tx) error {
		rows, err := tx.Queue("dev")
		for _, d := range rows {
			d.Expires = time.Time{}
			err = errors.Join(err, tx.PutJob(d))
		}
		return err
	}))
	s.hurry()
}

// hurry moves the deadlines of all calls 10 seconds earlier, so that an executor need not wait for the grace period.
func (s *site) hurry() {
	s.t.Helper()
	s.must(s.here().Store.Write(s.t.Context(), "dev", func(tx store.Tx) error {
		steps, err := tx.Steps(s.Number)
		for _, step := range steps {
			step.Deadline = step.Deadline.Add(-10 * time.Second)
			err = errors.Join(err, tx.PutStep(step))
		}
		return err
	}))
}

// finish runs the deployment in this process until it has ended. It answers all questions and returns them.
func (s *site) finish() (questions []string) {
	s.t.Helper()
	e := s.here()
	for {
		d, err := s.drive(s.t.Context(), e)
		s.must(err)
		if d.State != store.Ask {
			if d.State != store.Done && d.State != store.Aborted {
				s.t.Fatalf("deployment ended with %s: %s, want DONE or ABORTED", d.State, d.Message)
			}
			return questions
		}
		questions = append(questions, d.Message)
		u := question.FindStringSubmatch(d.Message)
		if u == nil || len(questions) > 5 {
			s.t.Fatalf("deployment asked %q, want at most 5 questions about creations", questions)
		}
		s.must(e.Resolve(s.t.Context(), d.ID, urn.URN(u[1]), s.lost(e, urn.URN(u[1]))))
	}
}

var question = regexp.MustCompile(`(?m)^(\S+): it is unknown whether it was created$`)

// checkQuestions fails the test if there is more than one question or if a question concerns a type that needs none.
func (s *site) checkQuestions(questions []string) {
	s.t.Helper()
	if len(questions) > 1 || len(questions) == 1 && !strings.Contains(questions[0], "sim:index:Key") {
		s.t.Errorf("deployment asked %q, want at most one question, about a Key", questions)
	}
}

// calls returns the calls received by the cloud that make changes.
func (s *site) calls() []string {
	s.t.Helper()
	text, err := os.ReadFile(s.cloud().path("calls"))
	if !errors.Is(err, fs.ErrNotExist) {
		s.must(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// trap triggers an event in the call with the given 1-based number.
func (s *site) trap(at int, what string) {
	s.t.Helper()
	s.must(os.WriteFile(s.cloud().path("trap"), fmt.Append(nil, at, " ", what), 0o600))
}

// hasAll checks that the deployment has ended and that each resource was created once.
func (s *site) hasAll(resources int) {
	s.t.Helper()
	if all, err := s.cloud().all(); err != nil || len(all) != resources {
		s.t.Errorf("resources in the cloud = %v, %v, want %d", all, err, resources)
	}
	if end := s.ending(); strings.Contains(end, "would") || strings.Contains(end, "in the queue") {
		s.t.Errorf("final state has changes or a queue:\n%s", end)
	}
}

// backup returns a copy of the database. Copies of databases with identical rows are identical.
func (s *site) backup() []byte {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "backup")
	s.must(s.here().Store.(watchedStore).Store.(*sqlite.Store).Backup(s.t.Context(), path))
	text, err := os.ReadFile(path)
	s.must(err)
	return text
}

// lost returns the ID of a resource that is in the cloud, but not in the resource graph, with the type of u and a name
// that starts with that of u. It returns "" if there is none.
func (s *site) lost(e *environment.Environment, u urn.URN) string {
	s.t.Helper()
	all, err := s.cloud().all()
	s.must(err)
	g, err := e.Graph(s.t.Context())
	s.must(err)
	text, err := lumigl.Append(nil, g.LumiGL())
	s.must(err)
	for id, r := range all {
		if r.Kind == u.Type().Name() && strings.HasPrefix(r.Thing.Name, u.Name()) && !bytes.Contains(text, []byte(id)) {
			return string(id)
		}
	}
	return ""
}

// ending returns the final state without IDs: the resources, the resource graph, the queue, and the remaining changes
// of the program.
func (s *site) ending() string {
	s.t.Helper()
	e := s.here()
	all, err := s.cloud().all()
	s.must(err)
	var lines []string
	for id, r := range all {
		text, err := json.Marshal(r.Thing)
		s.must(err)
		lines = append(lines, fmt.Sprintf("%s %s %s", r.Kind, id, text))
	}
	slices.Sort(lines)
	lines = append(lines, s.provisioned()...)
	g, err := e.Graph(s.t.Context())
	s.must(err)
	text, err := lumigl.Append(nil, g.LumiGL())
	s.must(err)
	lines = append(lines, string(text))
	s.must(e.Store.Read(s.t.Context(), func(tx store.Tx) error {
		rows, err := tx.Queue("dev")
		for _, d := range rows {
			lines = append(lines, fmt.Sprintf("in the queue: %+v", d))
		}
		for id := range int64(10) {
			tasks, err1 := tx.Tasks(id)
			steps, err2 := tx.Steps(id)
			if len(tasks)+len(steps) > 0 {
				lines = append(lines, fmt.Sprintf("deployment %d has %v %v", id, tasks, steps))
			}
			err = errors.Join(err, err1, err2)
		}
		return err
	}))
	r, err := s.request()
	s.must(err)
	p, err := planOne(s.t.Context(), e, r)
	if r.Desired == nil {
		return fmt.Sprint(lines, err)
	}
	s.must(err)
	for _, step := range p.Steps {
		if step.Kind != plan.Same {
			lines = append(lines, fmt.Sprintf("would %s %s", step.Kind, step.URN))
		}
	}
	return random.ReplaceAllString(strings.Join(lines, "\n"), "@")
}

// random matches the random part of an ID, and the fields that distinguish a replacement from a new resource. A
// replacement becomes a new resource once the old one is deleted.
var random = regexp.MustCompile(`@[A-Z2-7]{26}|("incarnation": 1,\s+)?"seed": "\w+"`)

func TestExecutorKilled(t *testing.T) {
	t.Parallel()
	before := newSite(t, crashPrograms...)
	for number := range crashPrograms {
		before.Number = int64(number) + 1
		before = killAnywhere(t, before, 40, 1)
	}
}

func TestAbortingExecutorKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t, crashPrograms[0], "Net/a size=2\nDisk/b on=[@a]\nDisk/new on=[@a]\nKey/d2 name=d2x !aliases=d\nDisk/shut fail=always")
	s.finish()
	s.Number, s.Abort = 2, true
	killAnywhere(t, s, 40, 1)
}

// killAnywhere kills an executor at every n-th point, where n is every, and returns the site after the deployment.
func killAnywhere(t *testing.T, before *site, minimum, every int) *site {
	t.Helper()
	after := before.copy(t)
	points, _ := after.killed(&after.childJob)
	if points < minimum {
		t.Errorf("executor reached %d points, want at least %d", points, minimum)
	}
	want := after.ending()
	t.Logf("%d points", points)
	t.Run(fmt.Sprint(before.Number), func(t *testing.T) {
		if testing.Short() {
			every = 7
		}
		for at := 1; at <= points; at += every {
			t.Run(fmt.Sprint(at), func(t *testing.T) {
				t.Parallel()
				s := before.copy(t)
				s.killed(&childJob{
					Folder: s.Folder, Number: s.Number, Abort: s.Abort, At: at, Signal: syscall.SIGKILL, Group: at/every%2 == 0,
					Provisioners: s.Provisioners,
				})
				s.expire()
				polled := s.tokens()
				s.checkQuestions(s.finish())
				s.checkPolled(polled)
				if diff := cmp.Diff(want, s.ending()); diff != "" {
					t.Errorf("final state after a kill (-want +got):\n%s", diff)
				}
			})
		}
	})
	return after
}

// If a killed executor's creation fails whenever it is repeated, aborting the deployment requires an answer.
func TestAbortAsksForUnsettledCreation(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/shut fail=always")
	s.killed(&childJob{Folder: s.Folder, Number: 1, Before: "Create shut", Signal: syscall.SIGKILL})
	s.expire()
	s.Abort = true
	const u = "urn:lumi:dev::a:index::sim:index:Net::shut"
	want := "FAILED " + u + ": the cloud is closed (it is unknown whether it was created)"
	for range 2 {
		d, err := s.drive(t.Context(), s.here())
		s.must(err)
		expect.Equal(t, want, string(d.State)+" "+d.Message)
	}
	s.must(s.here().Resolve(t.Context(), 1, u, ""))
	s.finish()
}

// TestPluginKilled kills the plugin in each call, before or after the call takes effect. The executor restarts the
// plugin and settles the outcome. In some cases, the executor is killed, too, but the call still takes effect.
func TestPluginKilled(t *testing.T) {
	t.Parallel()
	before := newSite(t, crashPrograms...)
	before.killed(&before.childJob)
	before.Number = 2
	after := before.copy(t)
	after.finish()
	want := after.ending()
	first, last := len(before.calls()), len(after.calls())
	if last-first < 8 {
		t.Errorf("deployment made %d calls, want at least 8", last-first)
	}
	for at := first + 1; at <= last; at++ {
		for _, what := range []string{"die-before", "die-after", "orphan"} {
			t.Run(fmt.Sprint(at, what), func(t *testing.T) {
				t.Parallel()
				s := before.copy(t)
				s.trap(at, what)
				if what == "orphan" {
					if _, ended := s.killed(&s.childJob); ended {
						t.Fatal("the call did not kill the executor")
					}
					s.expire()
				}
				questions := s.finish()
				call := s.calls()[at-1]
				s.checkQuestions(questions)
				if strings.HasPrefix(call, "Create Key") && len(questions) == 0 {
					t.Errorf("deployment asked no question after %s", call)
				}
				if diff := cmp.Diff(want, s.ending()); diff != "" {
					t.Errorf("final state after %s (-want +got):\n%s", what, diff)
				}
			})
		}
	}
}
