package cli

import "strings"

// words maps commands and deployment flags of other tools, such as Pulumi and OpenTofu, to advice about their
// equivalents in Lumi.
var words = []struct{ typed, answer string }{
	{"up, apply, update", "use 'lumi deploy'"},
	{"preview, pre, --dry-run, --preview-only", "'lumi plan' shows what 'lumi deploy' would do"},
	{"down, delete, --destroy", "use 'lumi destroy'"},
	{"state refresh, --refresh-only", "'lumi refresh' compares the state with the real resources; --accept records them"},
	{"--run-program", "this is not available yet"},
	{"init, new", "this is not available yet: write a Lumi.yaml with \"package: NAME\", \"program: FILE\" and \"environment: dev\""},
	{"stack, workspace", "use 'lumi env'"},
	{"env ls", "use 'lumi env list'"},
	{"env init, env create, env add", "use 'lumi env new'"},
	{"env rm, env remove, env destroy", "use 'lumi env delete'"},
	{"env select, env use, --stack, --workspace", "use --environment=NAME, as in 'lumi deploy --environment=NAME'"},
	{"state ls, ls, list, resources", "use 'lumi state list'"},
	{"state rm, state delete, state remove, rm, remove", "use 'lumi state forget'"},
	{"state mv, state rename, mv, move", "use 'lumi state move'"},
	{"state pull, export", "use 'lumi state export'"},
	{"state push", "use 'lumi state import'"},
	{"state unprotect", "remove the option \"protect\" in the program, and use 'lumi deploy'"},
	{"get", "use 'lumi state get'"},
	{"taint, replace", "use 'lumi deploy --replace=KEY'"},
	{"cancel", "use 'lumi abort'"},
	{"resume, continue, unlock, force-unlock", "use 'lumi retry'"},
	{"logs, events", "use 'lumi history DEPLOYMENT'"},
	{"validate, lint", "use 'lumi check' for a file, and 'lumi plan' for a program"},
	{"repair, fix", "'lumi check' shows how to fix a file"},
	{"console, repl", "use 'lumi yaql'"},
	{"providers, plugin, plugins, schema", "use 'lumi provider describe'"},
	{"test", "use 'lumi provider test'"},
	{"--config, --var, --var-file", "put arguments for the program after --, as in 'lumi deploy -- ARGUMENTS'"},
	{"login, logout, watch, --message, --exclude, --target-dependents", "this is not available yet"},
	{"--auto-approve, --skip-preview, --non-interactive, --force", "use --yes, as in 'lumi deploy --yes'"},
	{"--parallelism", "use --parallel=N, as in 'lumi deploy --parallel=N'"},
	{"--continue-on-error", "use --on-error=continue, as in 'lumi deploy --on-error=continue'"},
	{"--out, --save-plan", "use 'lumi deploy --expect=DIGEST', which deploys only the plan with the digest that 'lumi plan' shows"},
	{"--detailed-exitcode, --expect-no-changes", "use 'lumi plan --check'"},
}

// answer returns the advice about a command or flag of another tool, or "" if there is none.
func answer(typed string) string {
	for _, w := range words {
		for word := range strings.SplitSeq(w.typed, ", ") {
			if word == typed {
				return w.answer
			}
		}
	}
	return ""
}
