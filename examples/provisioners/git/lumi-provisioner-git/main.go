// Lumi-provisioner-git commits the desired state of resources as files to a git repository and waits until the repository's
// pipeline reports that it has applied them. See README.md for its settings and the interface of the pipeline.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve"
)

func main() { serve.MainProvisioner("git", "1.0.0", gitProvisioner{}) }

// gitProvisioner implements [provisioner.Provisioner]. Between calls, it keeps nothing but cached copies of repositories.
type gitProvisioner struct{}

// change is a provisioner.Change as files in the repository.
type change struct {
	*repository
	*files
	environment, module string
	// folder is the path of the files. proposal is the branch for review, or "" to push to the target branch.
	folder, proposal string
	// digest identifies the change in commit messages.
	digest string
}

// begin reads the settings, prepares a change, and fetches its branches. The caller must close the repository.
func begin(ctx context.Context, c *provisioner.Change) (x *change, err error) {
	if c.Task != "" {
		return nil, fmt.Errorf("unknown task %q: this provisioner has no tasks", c.Task)
	}
	all, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	s, err := readSettings()
	if err != nil {
		return nil, err
	}
	r, err := open(s)
	if err != nil {
		return nil, err
	}
	x = &change{
		repository: r, files: all, environment: c.Environment, module: c.Module, digest: all.digest(c.Environment, c.Module),
		folder: expand(s.Path, c.Environment, c.Module, "/"), proposal: proposalOf(s, c.Environment, c.Module),
	}
	if err := x.update(ctx); err != nil {
		r.close(ctx, &err)
		return nil, err
	}
	return x, nil
}

// proposalOf returns the branch on which a module's changes are proposed, or "" if they are pushed directly.
func proposalOf(s *settings, environment, module string) string {
	if s.Review == "direct" {
		return ""
	}
	return expand("lumi/{environment}/{module}", environment, module, ".")
}

func (x *change) update(ctx context.Context) error {
	if err := x.fetch(ctx, x.proposal); err != nil {
		return err
	}
	switch {
	case x.tips[x.settings.Branch] != "":
		return nil
	case len(x.branches) > 0:
		return fmt.Errorf("%s: branch %s not found in the repository, which has %s", settingsFile, x.settings.Branch, list(x.branches))
	case x.proposal != "":
		return fmt.Errorf("the repository is empty: push an initial commit to %s first", x.settings.Branch)
	}
	return nil
}

func list(names []string) string {
	if len(names) > 10 {
		names = append(slices.Clone(names[:10]), "…")
	}
	return strings.Join(names, ", ")
}

// maxDiff is the maximum size of the diff returned by Plan, in bytes.
const maxDiff = 64 << 10

// Plan implements [provisioner.Provisioner]. It returns a diff.
func (gitProvisioner) Plan(ctx context.Context, c *provisioner.Change) (plan *provisioner.Plan, err error) {
	x, err := begin(ctx, c)
	if err != nil {
		return nil, err
	}
	defer x.close(ctx, &err)
	p, err := x.propose(ctx, x.tips[x.settings.Branch], x.folder, x.files)
	if err != nil {
		return nil, err
	}
	if p.isEmpty() {
		return &provisioner.Plan{Text: fmt.Sprintf("%s in %s is up to date\n", x.folder, x.settings.Branch)}, nil
	}
	diff, err := x.run(ctx, "", "diff-tree", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", p.before, p.tree, "--", x.folder)
	if err != nil {
		return nil, err
	}
	if len(diff) > maxDiff {
		cut := strings.LastIndexByte(diff[:maxDiff], '\n')
		diff = fmt.Sprintf("%s\n… and %d lines more", diff[:cut], strings.Count(diff[cut+1:], "\n")+1)
	}
	how := "Push to " + x.settings.Branch
	if x.proposal != "" {
		how = fmt.Sprintf("Push to %s, to be merged into %s", x.proposal, x.settings.Branch)
	}
	return &provisioner.Plan{Text: how + ":\n" + diff + "\n"}, nil
}

// attempts is the maximum number of attempts to push a change while the branch is updated concurrently.
const attempts = 10

// Provision implements [provisioner.Provisioner]. It is idempotent: a change that is already in the repository is not
// committed again.
func (gitProvisioner) Provision(ctx context.Context, c *provisioner.Change) (token string, err error) {
	x, err := begin(ctx, c)
	if err != nil {
		return "", err
	}
	defer x.close(ctx, &err)
	for attempt := 1; ; attempt++ {
		target := x.tips[x.settings.Branch]
		p, err := x.propose(ctx, target, x.folder, x.files)
		if err != nil {
			return "", err
		}
		if p.isEmpty() {
			return x.unchanged(ctx)
		}
		branch := x.settings.Branch
		if x.proposal != "" {
			branch = x.proposal
			if own, err := x.byTrailer(ctx, target, x.tips[branch], x.digest); err != nil || own != "" {
				return x.token(ctx, own, branch, err)
			}
		}
		commit, err := x.commit(ctx, p, x.message(p))
		if err != nil {
			return "", err
		}
		before := x.tips[branch]
		failed := x.push(ctx, commit, branch)
		if failed == nil {
			return x.token(ctx, commit, x.proposal, nil)
		}
		// Since git's messages vary, detect a concurrent push by checking whether a branch has changed.
		if err := x.update(ctx); err != nil || attempt == attempts || x.tips[branch] == before && x.tips[x.settings.Branch] == target {
			return "", errors.Join(failed, err)
		}
	}
}

// unchanged returns a token for a change that is already in the target branch, or "" if the folder never existed there. The
// engine needs a token to get the metadata, and may have lost the original one.
func (x *change) unchanged(ctx context.Context) (string, error) {
	target := x.tips[x.settings.Branch]
	if target == "" {
		return "", nil
	}
	last, err := x.run(ctx, "", "rev-list", "-1", target, "--", x.folder)
	if err != nil || last == "" {
		return "", err
	}
	return x.token(ctx, last, "", nil)
}

func (x *change) message(p *proposed) string {
	var what, body []string
	for _, kind := range []struct {
		verb  string
		names []string
	}{{"create", p.created}, {"change", p.changed}, {"delete", p.deleted}} {
		if len(kind.names) > 0 {
			what = append(what, fmt.Sprintf("%s %d", kind.verb, len(kind.names)))
		}
		for _, name := range kind.names {
			body = append(body, kind.verb+" "+x.labels[name])
		}
	}
	if len(body) > 100 {
		body = append(body[:100], fmt.Sprintf("… and %d more", len(body)-100))
	}
	return fmt.Sprintf("%s: %s in %s\n\n%s\n\n%s%s\n",
		x.module, strings.Join(what, ", "), x.environment, strings.Join(body, "\n"), trailer, x.digest)
}
