package run_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// crashFolder is the environment variable that names a folder in which the test binary runs a graph instead of the
// tests.
const crashFolder = "LUMI_TEST_CRASH_FOLDER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(crashFolder); folder != "" {
		if err := resumeAndRun(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// appender is an executor that appends to a file once per token. It can look up the outcome, except for tasks whose
// names start with "unsure".
type appender string

func (a appender) Execute(_ context.Context, w run.Work) error {
	if w.Resumed {
		text, err := os.ReadFile(string(a))
		if err != nil {
			return err
		}
		if strings.HasPrefix(w.Task.ID, "unsure") {
			return run.ErrUncertain
		}
		if bytes.Contains(text, []byte(w.Token+"\n")) {
			return nil
		}
	}
	time.Sleep(3 * time.Millisecond)
	f, err := os.OpenFile(string(a), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s/%s %s\n", w.Node.Name, w.Task.ID, w.Token)
	time.Sleep(3 * time.Millisecond)
	return err
}

// resumeAndRun is the main function of the process to be killed.
func resumeAndRun(folder string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(folder, "state.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	e := run.New(run.Options{Store: s, Environment: "prod", Executor: appender(filepath.Join(folder, "log")), Parallelism: 4})
	if _, err := e.Resume(ctx, 1, nil); err != nil {
		return err
	}
	d, err := e.Run(ctx, 1)
	if err == nil && d.State != store.Done {
		err = fmt.Errorf("%s: %s", d.State, d.Message)
	}
	return err
}

func TestCrash(t *testing.T) {
	t.Parallel()
	testCrash(t)
}

// Nodes are in the window of a group one after the other, even if processes are killed.
func TestCrashInWindow(t *testing.T) {
	t.Parallel()
	var members []string
	for i := range 10 {
		members = append(members, fmt.Sprintf("sure%d, unsure%d", i, i))
	}
	log := testCrash(t, "{id: canary, type: group, tasks: ["+strings.Join(members, ", ")+"], parameters: {strategy: {type: parallel, amount: 1}}}")
	var nodes []string
	for _, name := range log {
		nodes = append(nodes, name[:2])
	}
	if nodes = slices.Compact(nodes); len(nodes) != 4 {
		t.Errorf("nodes ran tasks in the order %v, want each node once", nodes)
	}
}

// testCrash runs 80 tasks and the given ones in processes that are killed. It returns the tasks that ran, in order.
func testCrash(t *testing.T, tasks ...string) (ran []string) {
	folder := t.TempDir()
	inStore := func(f func(w *world)) {
		s := must.Get(sqlite.Open(t.Context(), filepath.Join(folder, "state.db"), sqlite.Options{}))(t)
		defer s.Close()
		f(&world{T: t, store: s})
	}
	for i := range 10 {
		tasks = append(tasks, fmt.Sprintf("{id: sure%d, type: shell, requires: [unsure%d]}, {id: unsure%d, type: shell}", i, i, i))
	}
	inStore(func(w *world) {
		w.write(func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "prod"}) })
		soon := func(o *run.Options) { o.Lease = time.Microsecond }
		must.Get(w.engine("one", nil, soon).Start(t.Context(), w.request("["+strings.Join(tasks, ", ")+"]", "n1", "n2", "n3", "n4")))(t)
	})
	log := func() []string {
		text, _ := os.ReadFile(filepath.Join(folder, "log")) // the file is missing at first
		return strings.Fields(string(text))
	}
	done := map[string]bool{}
	lines, kills := 0, 0
	for isEnded := false; !isEnded; {
		var stderr bytes.Buffer
		child := exec.Command(os.Args[0])
		child.Env, child.Stderr = append(os.Environ(), crashFolder+"="+folder), &stderr
		must.Do(t, child.Start())
		if kills < 8 {
			kills++
			go func(from int) {
				for end := time.Now().Add(5 * time.Second); len(log()) == from && time.Now().Before(end); {
					time.Sleep(time.Millisecond) // lets the process make progress
				}
				time.Sleep(time.Duration(rand.IntN(25_000)) * time.Microsecond)
				_ = child.Process.Kill()
			}(lines)
		}
		if err := child.Wait(); err == nil {
			isEnded = true
		} else if child.ProcessState.Exited() {
			t.Fatalf("child process: %v: %s", err, &stderr)
		}
		all := log()
		for i := lines; i < len(all); i += 2 {
			if done[all[i]] {
				t.Errorf("task %s was repeated after it was done", all[i])
			}
		}
		lines = len(all)
		inStore(func(w *world) {
			s := must.Get(w.engine("dead", nil).Status(t.Context(), 1))(t)
			for _, r := range s.Tasks {
				if r.State == store.Done && r.Task != "canary" {
					done[r.Node+"/"+r.Task] = true
				}
			}
		})
	}
	if kills < 3 || len(done) != 80 {
		t.Errorf("%d tasks were done after %d kills, want 80 after at least 3", len(done), kills)
	}
	times, first := map[string]int{}, map[string]int{}
	for line := range slices.Chunk(log(), 2) { // the task and its token
		ran = append(ran, line[0])
	}
	for i, name := range ran {
		if times[name]++; times[name] == 1 {
			first[name] = i
		}
	}
	for name := range done {
		if times[name] == 0 || times[name] > 1 && strings.Contains(name, "/sure") {
			t.Errorf("task %s ran %d times, want once", name, times[name])
		}
		if before := strings.Replace(name, "/sure", "/unsure", 1); first[name] < first[before] {
			t.Errorf("task %s ran before %s", name, before)
		}
	}
	return ran
}
