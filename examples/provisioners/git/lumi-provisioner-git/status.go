package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
)

// trailer is the prefix of the last line in a commit message, which contains the digest of the change.
const trailer = "Lumi-Change: "

// token identifies a change for Status.
type token struct {
	Commit string `json:"commit"`
	// Base is the parent commit, or "" for an initial commit.
	Base string `json:"base,omitempty"`
	// Tree is the ID of the Git tree of the module's folder, or "" if the folder was deleted. It identifies the change
	// after a squash merge, which may change the commit ID and the message.
	Tree string `json:"tree,omitempty"`
	// Change is the digest in the commit message.
	Change string `json:"change,omitempty"`
	// Proposal is the branch to which the commit was pushed for review, or "" if there was no review.
	Proposal    string `json:"proposal,omitempty"`
	Environment string `json:"environment"`
	Module      string `json:"module"`
}

// unmarshal parses a JSON document. It returns an error for unknown fields and trailing data.
func unmarshal(text string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if _, end := decoder.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("unexpected data after the object")
	}
	return err
}

var hexID = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

func (t *token) isValid() bool {
	for _, id := range []string{t.Commit, t.Base, t.Tree} {
		if id != "" && !hexID.MatchString(id) {
			return false
		}
	}
	return t.Commit != "" && t.Environment != "" && t.Module != "" && (t.Proposal == "" || isBranch(t.Proposal))
}

// token returns the encoded token of a commit, or an error if err is not nil.
func (x *change) token(ctx context.Context, commit, proposal string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(token{
		Commit: commit, Base: x.object(ctx, commit+"^"), Tree: x.object(ctx, commit+":"+x.folder), Change: x.digest,
		Proposal: proposal, Environment: x.environment, Module: x.module,
	})
	return string(text), err
}

// Status implements [provisioner.Provisioner].
func (gitProvisioner) Status(ctx context.Context, text string) (status *provisioner.Status, err error) {
	var t token
	if err := unmarshal(text, &t); err != nil || !t.isValid() {
		return nil, fmt.Errorf("the token was not issued by this provisioner: %w", lumi.ErrNotFound)
	}
	s, err := readSettings()
	if err != nil {
		return nil, err
	}
	r, err := open(s)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx, &err)
	if err := r.fetch(ctx, t.Proposal); err != nil {
		return nil, err
	}
	known := t.Base
	if known == "" {
		known = t.Commit
	}
	if !r.has(ctx, known) {
		return nil, fmt.Errorf("commit %s is not in the repository: %w", known, lumi.ErrNotFound)
	}
	landed, err := r.find(ctx, &t, s.Branch)
	if err != nil {
		return nil, err
	}
	if landed != "" {
		return r.applied(ctx, t.Environment, t.Module, landed)
	}
	status = &provisioner.Status{State: provisioner.Failed}
	if t.Proposal == "" {
		status.Message = fmt.Sprintf("%s no longer has commit %.8s: its history was rewritten", s.Branch, t.Commit)
		return status, nil
	}
	waiting, err := r.find(ctx, &t, t.Proposal)
	switch {
	case err != nil:
		return nil, err
	case waiting != "":
		status.State = provisioner.Running
		status.Message = fmt.Sprintf("waiting for %s to be merged into %s (commit %.8s)", t.Proposal, s.Branch, waiting)
	case r.tips[t.Proposal] != "":
		status.Message = fmt.Sprintf("%s no longer has commit %.8s: another change replaced it", t.Proposal, t.Commit)
	default:
		status.Message = fmt.Sprintf("%s was closed without being merged into %s (commit %.8s)", t.Proposal, s.Branch, t.Commit)
	}
	return status, nil
}

// find returns the commit in a branch that contains a change, or "" if there is none. After a squash or rebase, the commit
// differs from the one in the token, but has the same trailer or an identical folder.
func (r *repository) find(ctx context.Context, t *token, branch string) (string, error) {
	tip := r.tips[branch]
	if tip == "" {
		return "", nil
	}
	if r.has(ctx, t.Commit) && r.contains(ctx, tip, t.Commit) {
		return t.Commit, nil
	}
	if t.Change != "" {
		if commit, err := r.byTrailer(ctx, t.Base, tip, t.Change); err != nil || commit != "" {
			return commit, err
		}
	}
	folder := expand(r.settings.Path, t.Environment, t.Module, "/")
	changed, err := r.run(ctx, "", since(t.Base, tip, "rev-list", "--reverse", "--", folder)...)
	if err != nil {
		return "", err
	}
	for _, commit := range lines(changed) {
		if r.object(ctx, commit+":"+folder) == t.Tree {
			return commit, nil
		}
	}
	return "", nil
}

// byTrailer returns the first commit after base with the trailer of a change, or "" if there is none.
func (r *repository) byTrailer(ctx context.Context, base, tip, change string) (string, error) {
	if tip == "" {
		return "", nil
	}
	found, err := r.run(ctx, "", since(base, tip, "rev-list", "--reverse", "--fixed-strings", "--grep="+trailer+change)...)
	first, _, _ := strings.Cut(found, "\n")
	return first, err
}

// since inserts the range of commits from base to tip after the second argument of a command. If base is "", the range has
// no start.
func since(base, tip string, args ...string) []string {
	commits := []string{tip}
	if base != "" {
		commits = append(commits, "^"+base)
	}
	return append(append(append([]string{}, args[:2]...), commits...), args[2:]...)
}

// document is the pipeline's report.
type document struct {
	// Commit is the processed commit. Its ancestors count as processed, too. A status command may omit it.
	Commit  string            `json:"commit"`
	State   provisioner.State `json:"state"`
	Message string            `json:"message"`
	// Outputs maps file names to the metadata of the resources.
	Outputs map[string]provisioner.Properties `json:"outputs"`
}

const applied = "applied"

// applied returns the status of a commit in the target branch according to the pipeline's report.
func (r *repository) applied(ctx context.Context, environment, module, landed string) (*provisioner.Status, error) {
	text, source, err := r.report(ctx, environment, module, landed)
	if err != nil {
		return nil, err
	}
	wait := &provisioner.Status{
		State: provisioner.Running, Message: fmt.Sprintf("waiting for %s@%.8s to be applied", r.settings.Branch, landed),
	}
	if strings.TrimSpace(text) == "" {
		return wait, nil
	}
	var d document
	if err := unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w; the valid keys are commit, state, message and outputs", source, err)
	}
	if d.Commit == "" && r.settings.Status.Command != nil {
		d.Commit = landed
	}
	if !hexID.MatchString(d.Commit) {
		return nil, fmt.Errorf("%s: commit must be a full commit id, got %q", source, d.Commit)
	}
	if !r.has(ctx, d.Commit) || !r.contains(ctx, d.Commit, landed) {
		return wait, nil
	}
	switch d.State {
	case provisioner.Running:
		if d.Message != "" {
			wait.Message += ": " + d.Message
		}
		return wait, nil
	case provisioner.Failed:
		message := fmt.Sprintf("the pipeline failed at %s@%.8s", r.settings.Branch, d.Commit)
		if d.Message != "" {
			message += ": " + d.Message
		}
		return &provisioner.Status{State: provisioner.Failed, Message: message}, nil
	case applied:
		metadata, err := r.metadata(ctx, landed, expand(r.settings.Path, environment, module, "/"), d.Outputs)
		return &provisioner.Status{State: provisioner.Done, Message: d.Message, Metadata: metadata}, err
	}
	return nil, fmt.Errorf("%s: state must be running, failed or applied, got %q", source, d.State)
}

// report returns the text of the pipeline's report, or "" if there is none, and its source for error messages.
func (r *repository) report(ctx context.Context, environment, module, landed string) (text, source string, err error) {
	if command := r.settings.Status.Command; command != nil {
		env := append(r.environ(), "LUMI_ENVIRONMENT="+environment, "LUMI_MODULE="+module)
		text, err = execute(ctx, "", env, append(append([]string{}, command...), landed))
		if err != nil {
			return "", "", r.failed(command[0], text, err)
		}
		return text, command[0], nil
	}
	name := expand(r.settings.Status.File, environment, module, "/")
	tip := r.tips[r.settings.Status.Branch]
	if tip == "" || r.object(ctx, tip+":"+name) == "" {
		return "", "", nil
	}
	text, err = r.run(ctx, "", "cat-file", "blob", tip+":"+name)
	return text, r.settings.Status.Branch + ":" + name, err
}

// metadata converts outputs by file name to metadata by resource key. It finds the keys with a single git grep, since each
// file contains its key on a separate line.
func (r *repository) metadata(
	ctx context.Context, commit, folder string, outputs map[string]provisioner.Properties,
) (map[string]provisioner.Properties, error) {
	const key = `  "key": `
	found, _ := r.ask(ctx, "grep", "-z", "--text", "--no-color", "--no-line-number", "--no-column", "--max-depth=0",
		"--fixed-strings", "-e", key, commit, "--", folder)
	all := map[string]provisioner.Properties{}
	for _, line := range lines(found) {
		name, line, _ := strings.Cut(strings.TrimPrefix(line, commit+":"+folder+"/"), "\x00")
		output := outputs[name]
		quoted, ours := strings.CutPrefix(line, key)
		if !ours || output == nil {
			continue
		}
		var of string
		if err := json.Unmarshal([]byte(strings.TrimSuffix(quoted, ",")), &of); err != nil {
			return nil, fmt.Errorf("%s:%s/%s: invalid key: %w", commit, folder, name, err)
		}
		all[of] = output
		delete(outputs, name)
	}
	for name := range outputs {
		slog.Warn("the pipeline reported outputs for a file that is not in the commit", "file", name, "commit", commit)
	}
	return all, nil
}
