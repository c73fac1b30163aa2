package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// asPlugin is the environment variable that makes the test binary run as the plugin.
const asPlugin = "LUMI_TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		main()
	}
	os.Exit(m.Run())
}

// world is a workspace and a git repository, with a clone for commits by users and pipelines.
type world struct {
	*testing.T
	workspace, remote, clone string
	env                      []string
}

// newWorld creates a repository with an initial commit, and a workspace with the given settings. In the settings, URL is
// replaced with the repository's URL.
func newWorld(t *testing.T, settings string) *world {
	t.Helper()
	w := &world{T: t, workspace: t.TempDir(), remote: filepath.Join(t.TempDir(), "infra.git"), clone: t.TempDir()}
	w.env = append(os.Environ(), asPlugin+"=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(t.TempDir(), "gitconfig"))
	w.git("", "config", "--global", "user.name", "Ann")
	w.git("", "config", "--global", "user.email", "ann@example.com")
	w.git("", "config", "--global", "init.defaultBranch", "main")
	w.git("", "init", "-q", "--bare", w.remote)
	w.settings(settings)
	w.git("", "clone", "-q", w.remote, ".")
	w.write("README", "hello\n")
	w.git("", "commit", "-qm", "first")
	w.git("", "push", "-q", "origin", "main")
	return w
}

func (w *world) settings(text string) {
	w.Helper()
	text = strings.ReplaceAll(text, "URL", "file://"+w.remote)
	must.Do(w, os.WriteFile(filepath.Join(w.workspace, "git.yaml"), []byte(text), 0o600))
}

// git runs git in dir, or in the clone if dir is "", and returns its output.
func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	if cmd.Dir = dir; dir == "" {
		cmd.Dir = w.clone
	}
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file in the clone and stages it.
func (w *world) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.clone, name)
	must.Do(w, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
	w.git("", "add", name)
}

// report pushes a report of the pipeline to the status branch.
func (w *world) report(d document) {
	w.Helper()
	w.reportText(string(must.Get(json.Marshal(d))(w)))
}

func (w *world) reportText(text string) {
	w.Helper()
	w.git("", "checkout", "-q", "-B", "lumi-status")
	w.write("dev/site.json", text)
	w.git("", "commit", "-qm", "status", "--allow-empty")
	w.git("", "push", "-q", "--force", "origin", "lumi-status")
	w.git("", "checkout", "-q", "main")
}

// pull updates the clone and returns the tip of main.
func (w *world) pull() string {
	w.Helper()
	w.git("", "pull", "-q", "--ff-only", "origin", "main")
	return w.git("", "rev-parse", "HEAD")
}

// start starts the plugin with additional environment variables.
func (w *world) start(env ...string) *plugin.Provisioner {
	w.Helper()
	self := must.Get(os.Executable())(w)
	p := must.Get(plugin.StartProvisioner(w.Context(), plugin.Command{
		Path: self, Dir: w.workspace, Env: append(slices.Clone(w.env), env...), Log: io.Discard,
	}))(w)
	w.Cleanup(func() { _ = p.Close() })
	return p
}

// provision calls Provision in a new plugin process and returns the token.
func (w *world) provision(c *provisioner.Change) string {
	w.Helper()
	token, err := w.start().Provision(w.Context(), c)
	if err != nil || token == "" {
		w.Fatalf("Provision = %q, %v, want a token", token, err)
	}
	return token
}

// is checks the state and the message returned by Status, and returns the metadata.
func (w *world) is(token string, state provisioner.State, message string) map[string]provisioner.Properties {
	w.Helper()
	s := must.Get(w.start().Status(w.Context(), token))(w)
	if s.State != state || s.Message != message {
		w.Fatalf("Status = %s: %s\nwant     %s: %s", s.State, s.Message, state, message)
	}
	return s.Metadata
}

// files returns the contents of the files below lumi in a remote branch, by name, and the number of commits.
func (w *world) files(branch string) (files map[string]string, commits int) {
	w.Helper()
	files = map[string]string{}
	for _, name := range lines(w.git(w.remote, "ls-tree", "-r", "--name-only", branch, "lumi")) {
		files[strings.TrimPrefix(name, "lumi/dev/site/")] = w.git(w.remote, "cat-file", "blob", branch+":"+name)
	}
	return files, len(lines(w.git(w.remote, "rev-list", branch)))
}

// wants checks the number of commits and the names of the files in a remote branch.
func (w *world) wants(branch string, commits int, names ...string) {
	w.Helper()
	files, n := w.files(branch)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, names) || n != commits {
		w.Fatalf("branch %s has files %v in %d commits, want %v in %d", branch, got, n, names, commits)
	}
}

func commitOf(t testing.TB, text string) string {
	t.Helper()
	var parsed token
	must.Do(t, json.Unmarshal([]byte(text), &parsed))
	return parsed.Commit
}

// resource returns a resource as created by the given deployment.
func resource(name string, deployment int, properties provisioner.Properties) *provisioner.Resource {
	const typ tokens.Type = "aws:rds:Database"
	return &provisioner.Resource{
		Key: fmt.Sprintf("site:%s::%s:%d", typ, name, deployment), URN: urn.URN(fmt.Sprintf("urn:lumi:dev::site:index::%s::%s", typ, name)),
		Type: typ, Properties: properties,
	}
}

func changeTo(resources ...*provisioner.Resource) *provisioner.Change {
	return &provisioner.Change{Environment: "dev", Module: "site", New: resources}
}

const (
	direct   = "repository: URL\nreview: direct\n"
	reviewed = "repository: URL\n"
)

var sized = provisioner.Properties{"size": 1.0}

func TestLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	log, database := resource("log", 1, sized), resource("main", 1, provisioner.Properties{
		"size": 1.0, "html": "<&>", "log": provisioner.Reference{URN: resource("log", 1, nil).URN, Property: "arn"},
		"of": provisioner.Interpolation{Parts: []any{"a-", provisioner.Part{Of: provisioner.JSON{Value: "b"}, Path: "c[0]"}}},
	})
	database.Dependencies = []urn.URN{log.URN}
	created := changeTo(log, database)
	planned, err := w.start().Plan(t.Context(), created)
	if err != nil || !strings.HasPrefix(planned.Text, "Push to main:\ndiff --git a/lumi/dev/site/Database-log-") ||
		!strings.Contains(planned.Text, "\n+    \"html\": \"<&>\",\n") {
		t.Fatalf("Plan = %v, %v, want a diff", planned, err)
	}
	token := w.provision(created)
	files, _ := w.files("main")
	names := slices.Sorted(maps.Keys(files))
	w.wants("main", 2, fileName(log), fileName(database))
	want := `{
  "urn": "urn:lumi:dev::site:index::aws:rds:Database::main",
  "type": "aws:rds:Database",
  "key": "site:aws:rds:Database::main:1",
  "dependencies": [
    "urn:lumi:dev::site:index::aws:rds:Database::log"
  ],
  "properties": {
    "html": "<&>",
    "log": {
      "lumi:reference": {
        "property": "arn",
        "urn": "urn:lumi:dev::site:index::aws:rds:Database::log"
      }
    },
    "of": {
      "lumi:interpolate": [
        "a-",
        {
          "lumi:get": {
            "of": {
              "lumi:jsonStringify": "b"
            },
            "path": "c[0]"
          }
        }
      ]
    },
    "size": 1
  }
}`
	expect.Equal(t, want, files[names[1]])
	message := w.git(w.remote, "log", "-1", "--format=%an <%ae>%n%B", "main")
	message, digest, _ := strings.Cut(message, "Lumi-Change: ")
	if message != "Ann <ann@example.com>\nsite: create 2 in dev\n\ncreate aws:rds:Database log\ncreate aws:rds:Database main\n\n" || len(digest) != 40 {
		t.Errorf("commit message = %q with digest %q, want a summary and 40 digits", message, digest)
	}
	if again := w.provision(created); again != token {
		t.Errorf("second Provision = %[2]s, want %[1]s", token, again)
	}

	commit := w.pull()
	waits := fmt.Sprintf("waiting for main@%.8s to be applied", commit)
	w.is(token, provisioner.Running, waits)
	w.report(document{Commit: commit, State: "running", Message: "step 2 of 3"})
	w.is(token, provisioner.Running, waits+": step 2 of 3")
	w.report(document{Commit: commit, State: "failed", Message: "no quota"})
	w.is(token, provisioner.Failed, fmt.Sprintf("the pipeline failed at main@%.8s: no quota", commit))
	w.report(document{Commit: w.git("", "rev-parse", "HEAD^"), State: "applied"})
	w.is(token, provisioner.Running, waits)
	w.write("README", "later\n")
	w.git("", "commit", "-qm", "later")
	w.git("", "push", "-q", "origin", "main")
	w.report(document{Commit: w.pull(), State: "applied", Outputs: map[string]provisioner.Properties{
		names[0]: {"arn": "a1"}, "other.json": {"x": "y"},
	}})
	metadata := w.is(token, provisioner.Done, "")
	if len(metadata) != 1 || metadata[log.Key]["arn"] != "a1" {
		t.Errorf("metadata = %v, want only arn a1 of %s", metadata, log.Key)
	}

	// An engine that has lost the token repeats the change. Old contains the resources, since they may exist.
	again := changeTo(log, database)
	again.Old = created.New
	if metadata := w.is(w.provision(again), provisioner.Done, ""); len(metadata) != 1 || metadata[log.Key]["arn"] != "a1" {
		t.Errorf("metadata of the repeated change = %v, want only arn a1 of %s", metadata, log.Key)
	}
	// Change one resource and delete another, with an unmanaged file in the same folder.
	w.write("lumi/dev/site/notes.txt", "mine\n")
	w.git("", "commit", "-qm", "notes")
	w.git("", "push", "-q", "origin", "main")
	changed := changeTo(resource("log", 2, provisioner.Properties{"size": 2.0}))
	changed.Old = created.New
	token = w.provision(changed)
	w.wants("main", 5, fileName(log), "notes.txt")
	if got := w.git(w.remote, "log", "-1", "--format=%s", "main"); got != "site: change 1, delete 1 in dev" {
		t.Errorf("commit subject = %q, want site: change 1, delete 1 in dev", got)
	}
	w.report(document{Commit: w.pull(), State: "applied"})
	w.is(token, provisioner.Done, "")
	token = w.provision(&provisioner.Change{Environment: "dev", Module: "site", Old: changed.New})
	w.wants("main", 6, "notes.txt")
	w.is(token, provisioner.Running, fmt.Sprintf("waiting for main@%.8s to be applied", w.pull()))
}

func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	w.git(w.remote, "update-ref", "-d", "refs/heads/main")
	token := w.provision(changeTo(resource("main", 1, sized)))
	w.wants("main", 1, fileName(resource("main", 1, nil)))
	w.is(token, provisioner.Running, fmt.Sprintf("waiting for main@%.8s to be applied", commitOf(t, token)))
	w.fails("branch: mian", "git.yaml: branch mian not found in the repository, which has main")
	w.git(w.remote, "update-ref", "-d", "refs/heads/main")
	w.fails("review: branch", "the repository is empty: push an initial commit to main first")
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	w.git(w.remote, "init", "-q", "--bare", "--object-format=sha256", "../long.git")
	w.remote, w.clone = filepath.Join(w.remote, "../long.git"), t.TempDir()
	w.settings(direct)
	w.git("", "init", "-q", "--object-format=sha256")
	w.git("", "remote", "add", "origin", w.remote)
	w.git("", "commit", "-q", "--allow-empty", "-m", "first")
	w.git("", "push", "-q", "origin", "HEAD:main")
	token := w.provision(changeTo(resource("main", 1, sized)))
	w.is(token, provisioner.Running, fmt.Sprintf("waiting for main@%.8s to be applied", w.pull()))
}

// README.md contains examples of names.
func TestReadmeNames(t *testing.T) {
	t.Parallel()
	readme := must.Get(os.ReadFile("../README.md"))(t)
	for _, name := range []string{part("Dev"), fileName(resource("main", 1, nil)), "| `status.command` |"} {
		if !strings.Contains(string(readme), name) {
			t.Errorf("README.md does not contain %s", name)
		}
	}
}

// fails checks that Provision fails with the given settings.
func (w *world) fails(settings, want string) {
	w.Helper()
	w.settings("repository: URL\n" + settings)
	w.refuses(changeTo(resource("main", 9, sized)), want)
}

func (w *world) refuses(c *provisioner.Change, want string) {
	w.Helper()
	if token, err := w.start().Provision(w.Context(), c); err == nil || err.Error() != want || token != "" {
		w.Errorf("Provision = %q, %v\nwant error %s", token, err, want)
	}
}

func TestReview(t *testing.T) {
	t.Parallel()
	const proposal = "origin/lumi/dev/site"
	tests := map[string]func(*world){
		"merge":        func(w *world) { w.git("", "merge", "-q", "--no-ff", "-m", "Merge", proposal) },
		"fast-forward": func(w *world) { w.git("", "merge", "-q", "--ff-only", proposal) },
		"squash": func(w *world) {
			w.git("", "merge", "-q", "--squash", proposal)
			w.git("", "commit", "-qm", "Squashed, without a trailer")
		},
		"rebase": func(w *world) {
			w.write("README", "changed meanwhile\n")
			w.git("", "commit", "-qm", "meanwhile")
			w.git("", "cherry-pick", proposal)
		},
		"edited and squashed": func(w *world) {
			w.git("", "merge", "-q", "--squash", proposal)
			w.write("lumi/dev/site/notes.txt", "by a reviewer\n")
			w.git("", "commit", "-qm", "Squashed (#1)\n\n* site: create 1\n\n"+w.git("", "log", "-1", "--format=%(trailers)", proposal))
		},
	}
	for name, merge := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, reviewed)
			c := changeTo(resource("main", 1, sized))
			token := w.provision(c)
			if again := w.provision(c); again != token {
				t.Errorf("second Provision = %[2]s, want %[1]s", token, again)
			}
			w.wants("lumi/dev/site", 2, fileName(c.New[0]))
			w.is(token, provisioner.Running, fmt.Sprintf("waiting for lumi/dev/site to be merged into main (commit %.8s)", commitOf(t, token)))
			w.git("", "fetch", "-q")
			merge(w)
			w.git("", "push", "-q", "origin", "main", ":lumi/dev/site")
			if err := os.RemoveAll(filepath.Join(w.workspace, ".lumi")); err != nil { // as on another machine
				t.Fatal(err)
			}
			tip := w.pull()
			w.report(document{Commit: tip, State: "applied", Outputs: map[string]provisioner.Properties{fileName(c.New[0]): {"arn": "a"}}})
			if m := w.is(token, provisioner.Done, ""); m[c.New[0].Key]["arn"] != "a" {
				t.Errorf("metadata = %v, want arn a of %s", m, c.New[0].Key)
			}
			again := w.provision(c)
			if m := w.is(again, provisioner.Done, ""); m[c.New[0].Key]["arn"] != "a" {
				t.Errorf("metadata of the repeated change = %v, want arn a of %s", m, c.New[0].Key)
			}
			if _, n := w.files("main"); n > 4 {
				t.Errorf("main has %d commits, want at most 4", n)
			}
		})
	}
}

func TestProposalReplacedOrClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, reviewed)
	first := w.provision(changeTo(resource("main", 1, sized)))
	second := w.provision(changeTo(resource("main", 2, sized)))
	w.wants("lumi/dev/site", 2, fileName(resource("main", 1, nil)))
	w.is(first, provisioner.Failed, fmt.Sprintf("lumi/dev/site no longer has commit %.8s: another change replaced it", commitOf(t, first)))
	w.is(second, provisioner.Running, fmt.Sprintf("waiting for lumi/dev/site to be merged into main (commit %.8s)", commitOf(t, second)))
	w.git("", "push", "-q", "origin", ":lumi/dev/site")
	w.is(second, provisioner.Failed, fmt.Sprintf("lumi/dev/site was closed without being merged into main (commit %.8s)", commitOf(t, second)))
	third := w.provision(changeTo(resource("main", 2, sized)))
	w.is(third, provisioner.Running, fmt.Sprintf("waiting for lumi/dev/site to be merged into main (commit %.8s)", commitOf(t, third)))

	// Rewrite the history of main.
	w.settings(direct)
	fourth := w.provision(changeTo(resource("main", 3, sized)))
	w.git(w.remote, "update-ref", "refs/heads/main", "main^")
	w.is(fourth, provisioner.Failed, fmt.Sprintf("main no longer has commit %.8s: its history was rewritten", commitOf(t, fourth)))
}

func TestStatusCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct+"status:\n  command: [sh, -c, '. ./answer', sh]\n")
	answer := func(script string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(w.workspace, "answer"), []byte(script), 0o600))
	}
	c := changeTo(resource("main", 1, sized))
	token := w.provision(c)
	commit := w.pull()
	answer("")
	w.is(token, provisioner.Running, fmt.Sprintf("waiting for main@%.8s to be applied", commit))
	answer(`echo '{"state": "running", "message": "'$1 $LUMI_ENVIRONMENT $LUMI_MODULE'"}'`)
	w.is(token, provisioner.Running, fmt.Sprintf("waiting for main@%.8s to be applied: %s dev site", commit, commit))
	answer(`echo '{"state": "applied", "outputs": {"` + fileName(c.New[0]) + `": {"n": 3}}}'`)
	if m := w.is(token, provisioner.Done, ""); m[c.New[0].Key]["n"] != 3.0 {
		t.Errorf("metadata = %v, want n 3 of %s", m, c.New[0].Key)
	}
	for script, want := range map[string]string{
		`echo oh no >&2; exit 3`:            "sh: oh no",
		`exit 3`:                            "sh: exit status 3",
		`echo '{"state": "good"}'`:          `sh: state must be running, failed or applied, got "good"`,
		`echo '{"state": "failed", "x":1}'`: `sh: json: unknown field "x"; the valid keys are commit, state, message and outputs`,
	} {
		answer(script)
		if _, err := w.start().Status(t.Context(), token); err == nil || err.Error() != want {
			t.Errorf("Status with command %q = %v, want %s", script, err, want)
		}
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	token := w.provision(changeTo(resource("main", 1, sized)))
	w.pull()
	for text, want := range map[string]string{
		`{`:                    "lumi-status:dev/site.json: unexpected EOF; the valid keys are commit, state, message and outputs",
		`{"commit": "main"}`:   `lumi-status:dev/site.json: commit must be a full commit id, got "main"`,
		`{"state": "applied"}`: `lumi-status:dev/site.json: commit must be a full commit id, got ""`,
	} {
		w.reportText(text)
		if _, err := w.start().Status(t.Context(), token); err == nil || err.Error() != want {
			t.Errorf("Status with report %s = %v, want %s", text, err, want)
		}
	}
}
