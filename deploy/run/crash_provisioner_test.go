//go:build linux || darwin

package run_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/store"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// provisionerPlugin is a provisioner that runs in the folder with its name next to the database.
type provisionerPlugin struct {
	Name string
	// Path is the executable. The default is this test binary, as the ledger. Env lists additional environment
	// variables.
	Path string
	Env  []string
	// Types lists the types mapped to the provisioner.
	Types []tokens.Type
	// Results lists patterns of files in the provisioner's folder. The files must be the same after each run, except
	// for @ followed by 26 random letters.
	Results []string
}

// provisionersFlag names a JSON file with other provisioners and programs for the kill tests. Like resolved outputs,
// the properties in these programs must be sorted. An empty program, which destroys the module, is appended to the
// programs.
var provisionersFlag = flag.String("provisioners", "", `kill deployments with {"provisioners": [{"name", "path", "env", "types", "results"}], "programs": [LumiGL]}`)

func (j *childJob) provisioners() map[string]plan.Provisioner {
	all := map[string]plan.Provisioner{}
	for _, p := range j.Provisioners {
		all[p.Name] = watchedProvisioner{&provision.External{Name: p.Name, Command: func(string) (plugin.Command, error) {
			c := plugin.Command{Path: p.Path, Dir: filepath.Join(j.Folder, p.Name), Log: io.Discard}
			c.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), p.Env...)
			if p.Path == "" {
				c.Path, c.Env = os.Args[0], append(c.Env, ledgerVariable+"=1")
			}
			return c, os.MkdirAll(c.Dir, 0o700)
		}}, j}
	}
	return all
}

func (j *childJob) provisionerOf(t tokens.Type) (string, error) {
	for _, p := range j.Provisioners {
		if slices.Contains(p.Types, t) {
			return p.Name, nil
		}
	}
	return "", nil
}

// watchedProvisioner is a provisioner with a point before and after each call that makes changes. Status needs no
// points, since a write follows it.
type watchedProvisioner struct {
	plan.Provisioner
	job *childJob
}

func (w watchedProvisioner) Provision(ctx context.Context, in plan.Input) (string, error) {
	w.job.point("Provision")
	defer w.job.point("")
	return w.Provisioner.Provision(ctx, in)
}

// ledger is a provisioner that stores resources as files in its working directory. Each file has a unique part. The
// file "calls" lists the calls of Provision and Status.
type ledger struct{}

type ledgerToken struct {
	Change string
	Files  map[string]string // by key
}

func (ledger) Plan(context.Context, *provisioner.Change) (*provisioner.Plan, error) { return nil, nil }

func (ledger) note(line string) error {
	file, err := os.OpenFile("calls", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return cmp.Or(err, file.Close())
}

func (l ledger) Provision(_ context.Context, c *provisioner.Change) (string, error) {
	keys := func(all []*provisioner.Resource) (keys []string) {
		for _, r := range all {
			keys = append(keys, r.Key)
		}
		return keys
	}
	token := ledgerToken{fmt.Sprint(keys(c.New), " ", keys(c.Old)), map[string]string{}}
	if err := l.note("Provision " + token.Change); err != nil {
		return "", err
	}
	wanted := map[string]bool{}
	for _, r := range c.New {
		name := r.Type.Name() + "-" + r.URN.Name() + ".json"
		old, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			old, err = []byte("made@"+rand.Text()+"\n"), nil
		}
		if err != nil {
			return "", err
		}
		made, _, _ := bytes.Cut(old, []byte("\n"))
		properties, err := json.Marshal(r.Properties)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(name+".new", fmt.Appendf(nil, "%s\n%s\n", made, properties), 0o600); err != nil {
			return "", err
		}
		if err := os.Rename(name+".new", name); err != nil {
			return "", err
		}
		token.Files[r.Key], wanted[name] = name, true
	}
	for _, r := range c.Old {
		if name := r.Type.Name() + "-" + r.URN.Name() + ".json"; !wanted[name] {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	text, err := json.Marshal(token)
	return string(text), err
}

func (l ledger) Status(_ context.Context, text string) (*provisioner.Status, error) {
	var token ledgerToken
	if err := json.Unmarshal([]byte(text), &token); err != nil {
		return nil, fmt.Errorf("token %q: %w", text, lumi.ErrNotFound)
	}
	if err := l.note("Status " + token.Change); err != nil {
		return nil, err
	}
	s := &provisioner.Status{State: provisioner.Done, Metadata: map[string]provisioner.Properties{}}
	for key, name := range token.Files {
		s.Metadata[key] = provisioner.Properties{"arn": "arn of " + name}
	}
	return s, nil
}

// provisioned returns the results of provisioners, one line per file.
func (s *site) provisioned() (lines []string) {
	s.t.Helper()
	for _, p := range s.Provisioners {
		for _, pattern := range p.Results {
			files, err := filepath.Glob(filepath.Join(s.Folder, p.Name, pattern))
			s.must(err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				s.must(err)
				lines = append(lines, fmt.Sprintf("%s has %s:\n%s", p.Name, strings.TrimPrefix(file, s.Folder), text))
			}
		}
	}
	return lines
}

func (s *site) tokens() (all []string) {
	s.t.Helper()
	s.must(s.here().Store.Read(s.t.Context(), func(tx store.Tx) error {
		for id := range int64(10) {
			tasks, err := tx.Tasks(id)
			if err != nil {
				return err
			}
			for _, task := range tasks {
				if task.Token != "" {
					all = append(all, task.Token)
				}
			}
		}
		return nil
	}))
	return all
}

// checkPolled checks that the ledger made the changes with the given tokens exactly once.
func (s *site) checkPolled(polled []string) {
	s.t.Helper()
	calls, _ := os.ReadFile(filepath.Join(s.Folder, "ledger", "calls")) // does not exist without provisioners
	for _, text := range polled {
		var token ledgerToken
		if json.Unmarshal([]byte(text), &token) != nil || token.Change == "" {
			continue // a token of another provisioner
		}
		result, _, _ := strings.Cut(token.Change, "] [") // unique for each call
		n := strings.Count(string(calls), "Provision "+result+"] [")
		isMove := strings.Contains(result, "Unit::x:2") // passed again, since moves take effect when a deployment succeeds
		if n != 1 && (n != 2 || !isMove) {
			s.t.Errorf("Provision %s was called %d times, want once; calls:\n%s", result, n, calls)
		}
	}
}

// provisionerPrograms have tasks of providers and of a provisioner. Resources refer to resources of the same and of
// other tasks. The last program moves a resource.
var provisionerPrograms = []string{
	`Disk/a
	 Unit/u on=[@a] mode=@a.arn
	 Unit/v mode=join:v-@u.arn
	 Disk/b at=@v.arn
	 Unit/w mode=@b.arn`,
	`Disk/a size=2
	 Unit/u size=2 mode=@a.arn
	 Unit/x !aliases=v mode=join:v-@u.arn
	 Disk/b at=@x.arn`,
	``,
}

func newProvisionerSite(t *testing.T) (s *site, deployments int) {
	t.Helper()
	if *provisionersFlag == "" {
		s = newSite(t, provisionerPrograms...)
		s.Provisioners = []provisionerPlugin{{Name: "ledger", Types: []tokens.Type{"sim:index:Unit"}, Results: []string{"*.json"}}}
		return s, len(provisionerPrograms)
	}
	text := must.Get(os.ReadFile(*provisionersFlag))(t)
	var all struct {
		Provisioners []provisionerPlugin
		Programs     []json.RawMessage
	}
	must.Do(t, json.Unmarshal(text, &all))
	var programs []string
	for _, p := range all.Programs {
		programs = append(programs, string(p))
	}
	s = newSite(t, append(programs, "")...)
	s.Provisioners = all.Provisioners
	return s, len(programs) + 1
}

func TestExecutorKilledWithProvisioner(t *testing.T) {
	t.Parallel()
	s, deployments := newProvisionerSite(t)
	for number := range deployments {
		s.Number = int64(number) + 1
		every := 2
		if number == deployments-1 { // a destroy has fewer steps
			every = 4
		}
		s = killAnywhere(t, s, 10, every)
	}
	if left := s.provisioned(); len(left) > 0 {
		t.Errorf("remaining results of provisioners = %s, want none", left)
	}
}

func TestAbortAfterKillWithProvisioner(t *testing.T) {
	t.Parallel()
	before, _ := newProvisionerSite(t)
	whole := before.copy(t)
	points, _ := whole.killed(&whole.childJob)
	for at := 1; at <= points; at += 6 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			s := before.copy(t)
			s.killed(&childJob{Folder: s.Folder, Number: 1, Provisioners: s.Provisioners, At: at, Signal: syscall.SIGKILL, Group: at%4 == 1})
			s.expire()
			d, err := s.find(t.Context(), s.here())
			s.must(err)
			var refused *job.RefusedError
			if err := s.here().Abort(t.Context(), d.ID); errors.As(err, &refused) && d.State == store.Done {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			d, err = s.here().Run(t.Context(), d.ID)
			s.must(err)
			all, err := s.cloud().all()
			s.must(err)
			left := len(all) + len(s.provisioned())
			switch {
			case d.State == store.Done && left > 0: // the abort came too late
			case d.State != store.Aborted && d.State != store.Canceled || left > 0:
				t.Errorf("aborted deployment ended with %s %s, resources %v, and results %s, want ABORTED or CANCELLED without any", d.State, d.Message, all, s.provisioned())
			}
		})
	}
}
