//go:build unix

// Package together_test deploys with a provider and several provisioners in one plan, kills the deployment at various
// points, and checks that a retry completes it.
package together_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

var few = flag.Int("points", 0, "kill each deployment at so `many` points after events, and in commands")

// Environment variables for wrappers: the folder of the real commands, and the point and mode of the kill.
const (
	commandsVariable = "LUMI_TOGETHER_COMMANDS"
	siteVariable     = "LUMI_TOGETHER_SITE"
	pointVariable    = "LUMI_TOGETHER_POINT"
	modeVariable     = "LUMI_TOGETHER_MODE"
	lumiVariable     = "LUMI_TOGETHER_LUMI" // process id of lumi
)

// modes lists the targets of a kill: lumi alone, its process group, which includes the plugins, or all of its descendants.
var modes = []string{"lumi", "group", "all"}

func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	real, err := filepath.EvalSymlinks(filepath.Join(os.Getenv(commandsVariable), name))
	if os.Getenv(commandsVariable) == "" || err != nil {
		os.Exit(m.Run())
	}
	point()
	cmd := exec.Command(real, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{os.NewFile(3, "alive")}
	_ = cmd.Run()
	point()
	os.Exit(cmd.ProcessState.ExitCode())
}

// point records a point at which the deployment can be killed, and kills it if it is the selected one. There is a point
// before and after each process of a plugin, git, or tofu.
func point() {
	file, err := os.OpenFile(filepath.Join(os.Getenv(siteVariable), "points"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		panic(err)
	}
	if _, err := fmt.Fprintln(file, os.Args[0], os.Args[1:]); err != nil {
		panic(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		panic(err)
	}
	if strconv.Itoa(bytes.Count(text, []byte("\n"))) == os.Getenv(pointVariable) {
		lumi, err := strconv.Atoi(os.Getenv(lumiVariable))
		if err != nil {
			panic(err)
		}
		kill(lumi, os.Getenv(modeVariable))
		if os.Getenv(modeVariable) == "all" {
			os.Exit(1) //nolint:gocritic // Exiting closes the file.
		}
	}
}

// kill kills the targets selected by mode. lumi is the process id of lumi, which leads its own process group.
func kill(lumi int, mode string) {
	switch mode {
	case "lumi":
		_ = syscall.Kill(lumi, syscall.SIGKILL)
	case "group":
		_ = syscall.Kill(-lumi, syscall.SIGKILL)
	case "all":
		out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
		if err != nil {
			panic(err)
		}
		children := map[int][]int{}
		for line := range strings.Lines(string(out)) {
			var pid, parent int
			if _, err := fmt.Sscan(line, &pid, &parent); err == nil {
				children[parent] = append(children[parent], pid)
			}
		}
		var end func(int)
		end = func(pid int) {
			if pid != os.Getpid() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			for _, child := range children[pid] {
				end(child)
			}
		}
		end(lumi)
	}
}

// site is a workspace that contains a git repository.
type site struct {
	*testing.T
	dir, lumi, commands string
	tofu                bool
}

// newSite creates a workspace whose resources of package tool are managed by OpenTofu, or by the provisioner folder if tofu
// is false.
func newSite(t *testing.T, tofu bool) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir(), lumi: providertest.Build(t, "../../../cmd/lumi"), commands: t.TempDir(), tofu: tofu}
	git, err := exec.LookPath("git")
	s.must(err)
	commands := map[string]string{
		"lumi-resource-local":  providertest.Build(t, "../../local/provider/lumi-resource-local"),
		"lumi-provisioner-git": providertest.Build(t, "../git/lumi-provisioner-git"), "git": git,
	}
	other := `folder: ["tool:index:*"]`
	if tofu {
		other = `opentofu: ["tool:index:*"]`
		commands["lumi-provisioner-opentofu"] = providertest.Build(t, "../opentofu/lumi-provisioner-opentofu")
		commands["tofu"] = tofuPath
	} else {
		commands["lumi-provisioner-folder"] = providertest.Build(t, "../folder/lumi-provisioner-folder")
	}
	self, err := os.Executable()
	s.must(err)
	for _, folder := range []string{"real", "stand-ins"} {
		s.must(os.Mkdir(filepath.Join(s.commands, folder), 0o700))
		for name, path := range commands {
			if folder == "stand-ins" {
				path = self
			}
			s.must(os.Symlink(path, filepath.Join(s.commands, folder, name)))
		}
	}
	s.write("Lumi.yaml", "package: site\nenvironment: dev\nprovisioners:\n  git: [\"net:index:*\"]\n  "+other+"\n")
	s.write("opentofu.yaml", "types: {\"tool:index:Data\": terraform_data}\n")
	s.write("git.yaml", "repository: infra.git\nreview: direct\nstatus: {command: [sh, applied.sh]}\n")
	// The arn of a rule identifies the content of its file.
	s.write("applied.sh", `list=$(git --git-dir=infra.git ls-tree "$1" "lumi/$LUMI_ENVIRONMENT/$LUMI_MODULE/" |
		sed 's|.* \(.*\)\t.*/\(.*\)|"\2": {"arn": "\2@\1"}|' | paste -sd, -)
		printf '{"state": "applied", "outputs": {%s}}' "$list"`)
	s.run("git", "init", "-q", "--bare", "--initial-branch=main", "infra.git")
	return s
}

var tofuPath, _ = filepath.Abs("../../../bin/tofu/tofu")

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) write(name, text string) {
	s.Helper()
	s.must(os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
}

// copy returns a copy of the site in a new folder.
func (s *site) copy(t *testing.T) *site {
	t.Helper()
	to := *s
	to.T, to.dir = t, filepath.Join(t.TempDir(), "site")
	to.must(os.CopyFS(to.dir, os.DirFS(s.dir)))
	db, err := sqlite.Open(t.Context(), filepath.Join(to.dir, ".lumi", "state.db"), sqlite.Options{})
	to.must(err)
	to.must(db.Adopt(t.Context(), func(store.Tx) error { return nil })) // without the questions of 'lumi state adopt'
	to.must(db.Close())
	return &to
}

// command returns a command that runs in the workspace, in its own process group, with the wrappers in $PATH.
func (s *site) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.Context(), name, args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "LUMI_PASSPHRASE=correct horse", "CHECKPOINT_DISABLE=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		commandsVariable+"="+filepath.Join(s.commands, "real"), siteVariable+"="+s.dir,
		"PATH="+filepath.Join(s.commands, "stand-ins")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return cmd
}

// run runs a command, which must succeed, and returns its output.
func (s *site) run(name string, args ...string) string {
	s.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// programs lists the programs to deploy in order: an initial one, an update that changes all remaining resources, deletes
// some, and creates one, and "" for a destroy.
var programs = []string{
	`{"package": "site", "resources": {
		"URNlocal:index:File::a": {"type": "local:index:File", "properties": {"path": "a.txt", "content": "one"}},
		"URNtool:index:Data::d": {"type": "tool:index:Data", "properties": {"input": {"#ref": "URNlocal:index:File::a", "property": "checksum"}, MADE}},
		"URNtool:index:Data::x": {"type": "tool:index:Data", "properties": {"input": "x", MADE}},
		"URNnet:index:Rule::r": {"type": "net:index:Rule", "properties": {"on": {"#ref": "URNtool:index:Data::d", "property": "OUTPUT"}}},
		"URNnet:index:Rule::y": {"type": "net:index:Rule", "properties": {"on": {"#ref": "URNtool:index:Data::d", "property": "OUTPUT"}}},
		"URNtool:index:Data::e": {"type": "tool:index:Data", "properties": {"input": {"#ref": "URNnet:index:Rule::r", "property": "arn"}, MADE}},
		"URNlocal:index:File::b": {"type": "local:index:File", "properties": {"path": "b.txt", "content": {"#ref": "URNtool:index:Data::e", "property": "OUTPUT"}}}
	}}`,
	`{"package": "site", "resources": {
		"URNlocal:index:File::a": {"type": "local:index:File", "properties": {"path": "a.txt", "content": "two"}},
		"URNtool:index:Data::d": {"type": "tool:index:Data", "properties": {"input": {"#ref": "URNlocal:index:File::a", "property": "checksum"}, MADE}},
		"URNtool:index:Data::z": {"type": "tool:index:Data", "properties": {"input": "z", MADE}},
		"URNnet:index:Rule::r": {"type": "net:index:Rule", "properties": {"size": 2, "on": {"#ref": "URNtool:index:Data::d", "property": "OUTPUT"}}},
		"URNtool:index:Data::e": {"type": "tool:index:Data", "properties": {"input": {"#ref": "URNnet:index:Rule::r", "property": "arn"}, MADE}},
		"URNlocal:index:File::b": {"type": "local:index:File", "properties": {"path": "b.txt", "content": {"#ref": "URNtool:index:Data::e", "property": "OUTPUT"}}}
	}}`,
	"",
}

// deployment writes a program, selected by its index, to the workspace and returns the arguments that make lumi deploy it.
func (s *site) deployment(number int) []string {
	if programs[number] == "" {
		return []string{"destroy", "--yes", "--json"}
	}
	// With tofu, each creation of a resource appends a line to the file made.
	output, made := "file", `"made": true`
	if s.tofu {
		output, made = "output", `"provisioner": [{"local-exec": {"command": "echo made >>made"}}]`
	}
	s.write("program.json", strings.NewReplacer("URN", "urn:lumi:dev::site:index::", "OUTPUT", output, "MADE", made).Replace(programs[number]))
	return []string{"deploy", "--yes", "--json", "program.json"}
}

// killed runs a deployment and kills it after the given event or at the given point in a wrapper. Both are numbered from 1;
// 0 disables the kill. It returns the number of events, and whether lumi was killed.
func (s *site) killed(number, event, at int, mode string) (events int, killed bool) {
	s.Helper()
	_ = os.Remove(filepath.Join(s.dir, "points"))
	cmd := s.command("sh", append([]string{"-c", "export " + lumiVariable + "=$$; exec \"$@\"", "sh", s.lumi}, s.deployment(number)...)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", pointVariable, at), modeVariable+"="+mode)
	out, err := cmd.StdoutPipe()
	s.must(err)
	var said, stderr bytes.Buffer
	cmd.Stderr = &stderr
	alive, inherited, err := os.Pipe()
	s.must(err)
	cmd.ExtraFiles = []*os.File{inherited}
	s.must(cmd.Start())
	s.must(inherited.Close())
	lines := json.NewDecoder(out)
	for {
		var line json.RawMessage
		if lines.Decode(&line) != nil {
			break
		}
		said.Write(append(line, '\n'))
		if events++; events == event {
			kill(cmd.Process.Pid, mode)
		}
	}
	err = cmd.Wait()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signal() != syscall.SIGKILL && err != nil {
		s.Fatalf("%v: %v\n%s%s", cmd, err, &said, &stderr)
	}
	// The next deployment can start while processes of this one are still running, but the test must not end before them.
	s.Cleanup(func() {
		_, _ = io.Copy(io.Discard, alive)
		_ = alive.Close()
	})
	return events, status.Signal() == syscall.SIGKILL
}

// finish completes a killed deployment in new processes and returns their output.
func (s *site) finish(number int) (said string) {
	s.Helper()
	args := s.deployment(number)
	for range 3 {
		out, err := s.command(s.lumi, args...).CombinedOutput()
		said += fmt.Sprintf("lumi %v\n%s", args, out)
		if err == nil {
			return said
		}
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			break
		}
		args = []string{"retry"}
	}
	s.Fatalf("deployment does not finish:\n%s", said)
	return ""
}

var (
	uuid    = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	lineage = regexp.MustCompile(`"lineage": ".*"`)
)

// result returns the results of a deployment as text, without volatile parts: states, commits, and files. If counts is
// true, it includes the number of resources created by tofu.
func (s *site) result(counts bool) string {
	s.Helper()
	var text strings.Builder
	state := lineage.ReplaceAllString(s.run(s.lumi, "state", "export"), `"lineage"`)
	fmt.Fprintln(&text, uuid.ReplaceAllString(state, "ID"))
	fmt.Fprintln(&text, s.run("git", "--git-dir=infra.git", "log", "--format=%s", "main"))
	fmt.Fprintln(&text, s.run("git", "--git-dir=infra.git", "ls-tree", "-r", "main"))
	files := []string{"*.txt", "resources/*/*/*"}
	if counts {
		files = append(files, ".lumi/opentofu/*/*/made")
	}
	for _, pattern := range files {
		names, err := filepath.Glob(filepath.Join(s.dir, pattern))
		s.must(err)
		for _, name := range names {
			content, err := os.ReadFile(name)
			s.must(err)
			fmt.Fprintf(&text, "%s: %s\n", filepath.Base(name), content)
		}
	}
	file := filepath.Join(s.dir, ".lumi/opentofu/dev/site/terraform.tfstate")
	if content, err := os.ReadFile(file); err == nil {
		var state struct {
			Resources []struct {
				Type, Name string
				Instances  []struct{ Attributes any }
			}
		}
		s.must(json.Unmarshal(content, &state))
		fmt.Fprintln(&text, uuid.ReplaceAllString(fmt.Sprint(state.Resources), "ID"))
	}
	return text.String()
}

// A deployment killed at any point can be completed, with the same results as an undisturbed one. The test covers a few
// evenly spaced points; -points=1000 covers all of them.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		testKilled(t, newSite(t, false), max(*few, 1))
	})
	t.Run("tofu", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat(tofuPath); err != nil {
			t.Skip("bin/tofu/tofu not found: run 'make tofu', which takes minutes")
		}
		testKilled(t, newSite(t, true), max(*few, 1))
	})
}

func testKilled(t *testing.T, before *site, few int) {
	ways := 0
	for number := range programs {
		whole := before.copy(t)
		events, killed := whole.killed(number, 0, 0, "")
		if killed {
			t.Fatal("undisturbed deployment was killed by a signal")
		}
		text, err := os.ReadFile(filepath.Join(whole.dir, "points"))
		whole.must(err)
		points := bytes.Count(text, []byte("\n"))
		t.Logf("deployment %d has %d events, and %d points in commands", number+1, events, points)
		want := map[bool]string{false: whole.result(false), true: whole.result(true)}
		start := before
		try := func(event, point int) {
			mode := modes[ways%len(modes)]
			ways++
			t.Run(fmt.Sprintf("%d/%d/%d/%s", number+1, event, point, mode), func(t *testing.T) {
				t.Parallel()
				s := start.copy(t)
				if _, killed := s.killed(number, event, point, mode); !killed {
					return // lumi finished before the kill
				}
				said := s.finish(number)
				counts := mode != "all" // a killed tofu loses track of resources being created, and creates them again
				if diff := cmp.Diff(strings.Split(want[counts], "\n"), strings.Split(s.result(counts), "\n")); diff != "" {
					t.Errorf("results (-undisturbed +killed):\n%s\noutput of the retry:\n%s", diff, said)
				}
			})
		}
		for _, event := range spread(events, few) {
			try(event, 0)
		}
		for _, point := range spread(points, 2*few) {
			try(0, point)
		}
		before = whole
	}
}

// spread returns at most few evenly spaced numbers from 1 to n.
func spread(n, few int) (all []int) {
	few = min(n, few)
	for i := range few {
		all = append(all, 1+(2*i+1)*n/(2*few))
	}
	return all
}
