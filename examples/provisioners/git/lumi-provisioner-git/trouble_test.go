package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// wrap returns an environment in which git is the given script. In the script, $GIT is the real command.
func (w *world) wrap(script string) (env []string) {
	w.Helper()
	real := must.Get(exec.LookPath("git"))(w)
	bin := w.TempDir()
	must.Do(w, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nGIT="+real+"\n"+script+"\n"), 0o700))
	return []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// If the plugin is killed after any git command in Provision, a repeated call creates exactly one commit.
func TestKilled(t *testing.T) {
	t.Parallel()
	for branch, mode := range map[string]string{"main": direct, "lumi/dev/site": reviewed} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mode)
			count := filepath.Join(t.TempDir(), "count")
			// The file count contains the number of commands until the kill. The script also leaves locks, as a killed git
			// does.
			env := w.wrap(`n=$(cat ` + count + `); echo $((n - 1)) >` + count + `
die() { for d in ` + w.workspace + `/.lumi/git/used-*/git; do : >$d/packed-refs.lock; : >$d/refs/heads/main.lock; done; kill -9 $PPID; exit 1; }
"$GIT" "$@"; code=$?
[ "$n" = 1 ] && die
exit $code`)
			for n := 1; ; n++ {
				c := changeTo(resource("main", n, sized))
				must.Do(t, os.WriteFile(count, fmt.Append(nil, n), 0o600))
				before := w.git(w.remote, "rev-parse", "main")
				_, err := w.start(env...).Provision(t.Context(), c)
				w.provision(c)
				if got := w.git(w.remote, "rev-list", "--count", branch, "^"+before); got != "1" {
					t.Fatalf("killed after command %d: branch %s has %s new commits, want 1", n, branch, got)
				}
				if err == nil {
					if n < 15 {
						t.Fatalf("Provision ran %d git commands, want at least 15", n)
					}
					return
				}
			}
		})
	}
}

func TestConcurrentPushes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	const pushers = 5
	ended := make(chan error, pushers)
	for i := range pushers {
		p := w.start()
		go func() {
			c := changeTo(resource("main", 1, sized))
			c.Module = fmt.Sprintf("m%d", i)
			token, err := p.Provision(t.Context(), c)
			if err == nil && token == "" {
				err = errors.New("no token")
			}
			ended <- err
		}()
	}
	for range pushers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, n := w.files("main"); n != pushers+1 {
		t.Errorf("main has %d commits, want %d", n, pushers+1)
	}
	if left, err := filepath.Glob(filepath.Join(w.workspace, ".lumi", "git", "*")); err != nil || len(left) != 1 {
		t.Errorf("cached copies = %v, %v, want 1", left, err)
	}
}

func TestPushOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	w.write("README", "meanwhile\n")
	w.git("", "commit", "-qm", "meanwhile")
	env := w.wrap(`case "$*" in *" push "*) [ -e ` + w.clone + `/pushed ] || { : >` + w.clone + `/pushed; "$GIT" -C ` + w.clone + ` push -q origin main; };; esac
exec "$GIT" "$@"`)
	c := changeTo(resource("main", 1, sized))
	if token, err := w.start(env...).Provision(t.Context(), c); err != nil || token == "" {
		t.Errorf("Provision = %q, %v, want a token", token, err)
	}
	w.wants("main", 3, fileName(c.New[0]))
	if got := w.git(w.remote, "show", "main:README"); got != "meanwhile" {
		t.Errorf("README = %q, want the concurrent change", got)
	}
}

func TestProtectedBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	hook := "#!/bin/sh\necho 'main is protected: open a pull request' >&2\nexit 1\n"
	must.Do(t, os.WriteFile(filepath.Join(w.remote, "hooks", "pre-receive"), []byte(hook), 0o700))
	_, err := w.start().Provision(t.Context(), changeTo(resource("main", 1, sized)))
	want := regexp.MustCompile("^git push: remote: main is protected: open a pull request *\n! \\[remote rejected\\] [0-9a-f]{40} -> main " +
		"\\(pre-receive hook declined\\)\nerror: failed to push some refs to 'file://.*'$")
	if err == nil || !want.MatchString(err.Error()) || errors.As(err, new(*lumi.RetryError)) {
		t.Errorf("Provision error = %v, want a permanent error that matches %s", err, want)
	}
}

func TestCanceledFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "repository: ssh://example.invalid/infra.git\n")
	started := filepath.Join(t.TempDir(), "started")
	must.Do(t, exec.Command("mkfifo", started).Run())
	p := w.start("GIT_SSH_VARIANT=simple", "GIT_SSH_COMMAND=echo >"+started+"; exec sleep 300; :")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := p.Provision(ctx, changeTo(resource("main", 1, sized)))
		ended <- err
	}()
	must.Get(os.ReadFile(started))(t)
	at := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Provision error = %v, want %v", err, context.Canceled)
	}
	if err := p.Close(); err != nil || time.Since(at) > 5*time.Second {
		t.Errorf("Close = %v after %s, want nil within 5s", err, time.Since(at))
	}
	if left, err := filepath.Glob(filepath.Join(w.workspace, ".lumi", "git", "*")); err != nil || len(left) != 0 {
		t.Errorf("cached copies = %v, %v, want none", left, err)
	}
}

// Status does not return ErrNotFound if git fails.
func TestStatusGitKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	token := w.provision(changeTo(resource("main", 1, sized)))
	for _, command := range []string{"cat-file -e", "merge-base"} {
		env := w.wrap(`case "$*" in *" ` + command + ` "*) kill -9 $$;; esac; exec "$GIT" "$@"`)
		want := "git " + strings.TrimSuffix(command, " -e") + ": signal: killed"
		if s, err := w.start(env...).Status(t.Context(), token); err == nil || err.Error() != want || errors.Is(err, lumi.ErrNotFound) {
			t.Errorf("Status = %v, %v, want error %s", s, err, want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	code := http.StatusForbidden
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code) }))
	t.Cleanup(server.Close)
	url := strings.Replace(server.URL, "http://", "http://ann:hunter2%21@", 1) + "/infra.git"
	masked := strings.Replace(server.URL, "http://", "http://***@", 1) + "/infra.git/"
	w := newWorld(t, "repository: "+url+"\n")
	for code = range map[int]bool{http.StatusForbidden: true, http.StatusServiceUnavailable: true} {
		_, err := w.start().Plan(t.Context(), changeTo(resource("main", 1, sized)))
		want := fmt.Sprintf("git ls-remote: fatal: unable to access '%s': The requested URL returned error: %d", masked, code)
		plain := strings.ReplaceAll(want, "***@", "")
		if err == nil || err.Error() != want && err.Error() != plain || errors.As(err, new(*lumi.RetryError)) != (code == http.StatusServiceUnavailable) {
			t.Errorf("Plan with HTTP status %d = %v, want %s", code, err, want)
		}
	}
	w.settings("repository: /nowhere/infra.git\n")
	w.refuses(changeTo(resource("main", 1, sized)), "git ls-remote: fatal: '/nowhere/infra.git' does not appear to be a git repository\n"+
		"fatal: Could not read from remote repository.\nPlease make sure you have the correct access rights\nand the repository exists.")
	if _, err := w.start("PATH=").Plan(t.Context(), changeTo()); err == nil || err.Error() != "git not found in $PATH: install git 2.31 or later" {
		t.Errorf("Plan without git = %v, want an error", err)
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	g := &git{repository: "https://ann:hunter%212@example.com/infra.git"}
	for text, want := range map[string]string{
		"'https://ann:hunter%212@example.com/infra.git'": "'https://***@example.com/infra.git'",
		"https://token@example.com failed":               "https://***@example.com failed",
		"ssh://git@example.com":                          "ssh://git@example.com",
		"ssh://git:pw@example.com":                       "ssh://***@example.com",
		"remote: hunter!2 or hunter%212 is wrong":        "remote: *** or *** is wrong",
	} {
		expect.Equal(t, want, g.mask(text))
	}
	// Passwords are masked before truncation, since part of a password would not be recognized.
	end := strings.Repeat("é", maxErrorOutput/2-2)
	if got, want := g.failed("git push", "hunter!2"+end, errors.New("exit status 1")).Error(), "git push: ***"+end; got != want {
		t.Errorf("failed with a password = %.20s…, want %.20s…", got, want)
	}
	if got := g.failed("git push", "hunter!2"+end+"éé", errors.New("exit status 1")).Error(); got != "git push: "+end+"éé" {
		t.Errorf("failed with a truncated password = %.20s…, want no part of it", got)
	}
}

// Neither the token nor the cached copy contains the password in the repository's URL.
func TestPasswordNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "repository: https://ann:hunter2@example.com/infra.git\nreview: direct\n")
	w.git("", "config", "--global", "url.file://"+w.remote+".insteadOf", "https://ann:hunter2@example.com/infra.git")
	if token := w.provision(changeTo(resource("main", 1, sized))); strings.Contains(token, "hunter2") || len(token) > 400 {
		t.Errorf("token = %s, want at most 400 bytes without the password", token)
	}
	if out, err := exec.Command("grep", "-r", "hunter2", filepath.Join(w.workspace, ".lumi")).CombinedOutput(); err == nil || len(out) > 0 {
		t.Errorf("cached copy contains the password: %v\n%s", err, out)
	}
}

func TestUserEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	hooks := t.TempDir()
	for _, name := range []string{"pre-push", "post-index-change"} {
		must.Do(t, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	}
	w.git(w.workspace, "init", "-q")
	w.settings("repository: " + must.Get(filepath.Rel(w.workspace, w.remote))(t) + "\nreview: direct\n")
	config := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(config, []byte("[user]\nuseConfigOnly = true\n[core]\nhooksPath = "+hooks+"\nautocrlf = true\n[diff]\nnoprefix = true\n[i18n]\ncommitEncoding = latin1\n"), 0o600))
	p := w.start("GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere", "GIT_OBJECT_DIRECTORY=/nowhere", "GIT_CONFIG_GLOBAL="+config)
	c := changeTo(resource("ümlaut", 1, sized))
	if planned, err := p.Plan(t.Context(), c); err != nil || !strings.Contains(planned.Text, "\ndiff --git a/lumi/dev/site/") {
		t.Errorf("Plan = %v, %v, want a diff", planned, err)
	}
	if token, err := p.Provision(t.Context(), c); err != nil || token == "" {
		t.Errorf("Provision = %q, %v, want a token", token, err)
	}
	if got := w.git(w.remote, "log", "-1", "--format=%an <%ae> %cn%n%b", "main"); !strings.HasPrefix(got, "Lumi <lumi@localhost> Lumi\ncreate aws:rds:Database ümlaut\n") {
		t.Errorf("commit = %s, want author and committer Lumi and ümlaut in UTF-8", got)
	}
}

func TestSignedCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Skipf("ssh-keygen: %v\n%s", err, out)
	}
	for name, value := range map[string]string{"gpg.format": "ssh", "user.signingKey": key, "commit.gpgSign": "true"} {
		w.git("", "config", "--global", name, value)
	}
	w.provision(changeTo(resource("main", 1, sized)))
	if got := w.git(w.remote, "cat-file", "commit", "main"); !strings.Contains(got, "\ngpgsig -----BEGIN SSH SIGNATURE-----\n") {
		t.Errorf("commit has no SSH signature:\n%s", got)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	const rule = " and must not be committed: pass the name of an entry in a secret manager that the pipeline reads"
	secret := provisioner.Secret{Value: "hunter2"}
	for path, value := range map[string]any{
		"a": secret, "a.b[1]": map[string]any{"b": []any{1.0, secret}}, "a[0]": provisioner.Interpolation{Parts: []any{secret}},
	} {
		c := changeTo(resource("main", 1, provisioner.Properties{"a": value}))
		want := "urn:lumi:dev::site:index::aws:rds:Database::main: property " + path + " is a secret" + rule
		w.refuses(c, want)
		if _, err := w.start().Plan(t.Context(), c); err == nil || err.Error() != want {
			t.Errorf("Plan error = %v, want %s", err, want)
		}
	}
	w.refuses(changeTo(resource("main", 1, provisioner.Properties{"a": map[string]any{"lumi:get": 1.0}})),
		`urn:lumi:dev::site:index::aws:rds:Database::main: property a.lumi:get: keys that begin with "lumi:" are reserved; choose another one`)
	w.wants("main", 1)
}

func TestNames(t *testing.T) {
	t.Parallel()
	safe := regexp.MustCompile(`^Database-[A-Za-z0-9_-]{1,60}-[0-9a-f]{12}\.json$`)
	seen := map[string]string{}
	var all []*provisioner.Resource
	for _, name := range []string{
		"..", ".", ".git", "CON", "con", "a/b", `a\b`, "../../etc/passwd", "Main", "main", "MAIN", strings.Repeat("x", 300), strings.Repeat("x", 299) + "y",
		"ü", "日本語", "u\u0308", "a b", "-rf", "a::b", "*", "a:b", "\"", "~", "x.lock",
	} {
		r := resource(name, 1, sized)
		got := fileName(r)
		if other, clash := seen[strings.ToLower(got)]; clash || !safe.MatchString(got) {
			t.Errorf("fileName(%s) = %s, want a safe name that differs from the name of %q", name, got, other)
		}
		seen[strings.ToLower(got)] = name
		all = append(all, r)
	}
	parts := map[string]string{}
	for _, name := range []string{"..", ".git", "Dev", "dev", "DEV", "con", "lock", "a/b", "a\\b", "é", "-x", strings.Repeat("e", 200), "x.lock", "{module}"} {
		got := part(name)
		if other, clash := parts[strings.ToLower(got)]; clash || !regexp.MustCompile(`^[a-z0-9_-]+(\.[0-9a-f]{12})?$`).MatchString(got) || len(got) > 64 {
			t.Errorf("part(%s) = %s, want a safe name that differs from the name of %q", name, got, other)
		}
		parts[strings.ToLower(got)] = name
	}
	w := newWorld(t, reviewed)
	for _, environment := range []string{"..", ".git", "-x", "CON"} {
		c := changeTo(all...)
		c.Environment, c.Module = environment, "my/lock/cluster"
		token := w.provision(c)
		if status, err := w.start().Status(t.Context(), token); err != nil || status.State != provisioner.Running {
			t.Errorf("Status in environment %s = %v, %v, want state %v", environment, status, err, provisioner.Running)
		}
	}
	w.git(w.remote, "fsck", "--strict")
	module := changeTo(resource("main", 1, sized))
	module.Module = "my/lock"
	w.provision(module) // conflicts with the branch of my/lock/cluster if names are joined with slashes
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []*provisioner.Change{
		changeTo(resource("main", 9, nil), resource("main", 10, sized)), changeTo(resource("main", 10, sized), resource("main", 9, nil)),
	} {
		all, err := filesOf(c)
		if err != nil || len(all.gone) > 0 || len(all.wanted) != 1 || !strings.Contains(string(all.wanted[fileName(c.New[0])]), `main:10"`) {
			t.Errorf("filesOf = %v, %v, want one file with version 10", all, err)
		}
	}
}

func TestPathIsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	w.write("lumi", "a file\n")
	w.git("", "commit", "-qm", "lumi")
	w.git("", "push", "-q", "origin", "main")
	w.refuses(changeTo(resource("main", 1, sized)), "lumi in main is not a folder: set another path in git.yaml")
	expect.Equal(t, "a file", w.git(w.remote, "show", "main:lumi"))
}

// If the cached copy is broken, Provision fails, and the next call creates a new copy.
func TestBrokenCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	w.provision(changeTo(resource("main", 1, sized)))
	copies, err := filepath.Glob(filepath.Join(w.workspace, ".lumi", "git", "*.git"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("cached copies = %v, %v, want 1", copies, err)
	}
	must.Do(t, os.RemoveAll(filepath.Join(copies[0], "objects")))
	c := changeTo(resource("main", 2, sized))
	if _, err := w.start().Provision(t.Context(), c); err == nil {
		t.Error("Provision with a broken copy = nil, want an error")
	}
	w.provision(c)
}

func TestPlanTruncatesDiff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	list := make([]any, 10000)
	for i := range list {
		list[i] = "an element"
	}
	planned, err := w.start().Plan(t.Context(), changeTo(resource("main", 1, provisioner.Properties{"list": list})))
	if err != nil || len(planned.Text) > maxDiff+100 || !regexp.MustCompile(`\n… and \d{4} lines more\n$`).MatchString(planned.Text) {
		t.Errorf("Plan = %d bytes, %v, want about %d with the number of omitted lines", len(planned.Text), err, maxDiff)
	}
	c := changeTo(resource("main", 1, sized))
	w.provision(c)
	if planned, err = w.start().Plan(t.Context(), c); err != nil || planned.Text != "lumi/dev/site in main is up to date\n" {
		t.Errorf("Plan of an applied change = %v, %v, want up to date", planned, err)
	}
	c.Task = "migrate"
	w.refuses(c, `unknown task "migrate": this provisioner has no tasks`)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                                               `git.yaml: invalid repository ""; write repository: URL`,
		"repository: a\nbrach: b":                        `git.yaml:2:1: unknown key "brach"; did you mean "branch"?`,
		"repository: a\nzzz: b":                          `git.yaml:2:1: unknown key "zzz"; see the provisioner's README.md`,
		"repository: a\nrepository: b":                   `git.yaml:2:1: mapping key "repository" already defined at line 1`,
		"repository: [a]":                                "git.yaml:1:13: cannot construct !!seq into string",
		"repository: a\nreview: maybe":                   `git.yaml: invalid review "maybe"; must be branch or direct`,
		"repository: a\nbranch: a..b":                    `git.yaml: invalid branch "a..b"; write branch: main`,
		"repository: a\npath: ../x":                      `git.yaml: invalid path "../x"; must be a relative path of letters, digits, -, _ and ., with {environment} and {module}`,
		"repository: a\npath: lumi/{env}":                `git.yaml: invalid path "lumi/{env}"; must be a relative path of letters, digits, -, _ and ., with {environment} and {module}`,
		"repository: a\npath: a/.git/b":                  `git.yaml: invalid path "a/.git/b"; must be a relative path of letters, digits, -, _ and ., with {environment} and {module}`,
		"repository: a\nstatus: {file: /x}":              `git.yaml: invalid status.file "/x"; must be a relative path of letters, digits, -, _ and ., with {environment} and {module}`,
		"repository: a\nstatus: {branch: -x}":            `git.yaml: invalid status.branch "-x"; write branch: lumi-status`,
		"repository: a\nstatus: {command: []}":           `git.yaml: invalid status.command "[]"; write command: [PROGRAM, ARGUMENT]`,
		"repository: a\nstatus: {command: [x], file: y}": "git.yaml: status.command cannot be combined with status.branch or status.file",
		"repository: a\nstatus: {files: x}":              `git.yaml:2:10: unknown key "files"; did you mean "file"?`,
		"a: [":                                           "git.yaml:2:1: did not find expected node content",
	} {
		if _, err := parseSettings([]byte(src)); err == nil || err.Error() != want {
			t.Errorf("parseSettings(%q) = %v\nwant %s", src, err, want)
		}
	}
	w := newWorld(t, direct)
	must.Do(t, os.Remove(filepath.Join(w.workspace, "git.yaml")))
	w.refuses(changeTo(), "git.yaml not found: create it next to Lumi.yaml, with at least repository: URL")
}

func TestUnknownToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	gone := strings.Repeat("ab", 20)
	for token, want := range map[string]string{
		"": "the token was not issued by this provisioner", "garbage": "the token was not issued by this provisioner", "{}": "the token was not issued by this provisioner",
		`{"commit": "--upload-pack=x", "environment": "dev", "module": "site"}`:                      "the token was not issued by this provisioner",
		`{"commit": "` + gone + `", "proposal": "a..b", "environment": "dev", "module": "site"}`:     "the token was not issued by this provisioner",
		`{"commit": "` + gone + `", "environment": "dev", "module": "site"}`:                         "commit " + gone + " is not in the repository",
		`{"commit": "` + gone + `", "base": "` + gone + `", "environment": "dev", "module": "site"}`: "commit " + gone + " is not in the repository",
	} {
		if _, err := w.start().Status(t.Context(), token); !errors.Is(err, lumi.ErrNotFound) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Status(%s) = %v, want ErrNotFound with %s", token, err, want)
		}
	}
}

// If a push is canceled while the server process holds the lock of the branch, the next push succeeds.
func TestCanceledPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	locked := filepath.Join(t.TempDir(), "locked")
	must.Do(t, exec.Command("mkfifo", locked).Run())
	w.hook(w.remote, "reference-transaction", `if [ "$1" = prepared ]; then echo >`+locked+`; exec sleep 300; fi`)
	p := w.start()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	c := changeTo(resource("main", 1, sized))
	go func() {
		_, err := p.Provision(ctx, c)
		ended <- err
	}()
	must.Get(os.ReadFile(locked))(t)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Provision error = %v, want %v", err, context.Canceled)
	}
	must.Do(t, p.Close())
	must.Do(t, os.Remove(filepath.Join(w.remote, "hooks", "reference-transaction")))
	w.provision(c)
}
