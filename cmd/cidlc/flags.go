package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// options holds the parsed command line.
type options struct {
	idl         string // the IDL folder, as given
	targets     []*target
	packageName string
	tokens      string
	markers     []string
	check       bool
	diagnostics string
	color       string
	quiet       bool
	verbose     bool

	against, allow string   // flags of 'cidlc breaking'
	audience       []string // also a flag of 'cidlc breaking'

	help, version     bool
	explain, breaking bool
	codes             []string // arguments of 'cidlc explain'
}

// parseFlags parses and validates the command line. Every error suggests a fix.
func parseFlags(args []string) (*options, error) {
	var o options
	flags := pflag.NewFlagSet("cidlc", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	for _, out := range outputs {
		t := &target{output: out}
		o.targets = append(o.targets, t)
		flags.Var(t, out.flag, "")
		if out.folder != "" {
			flags.Lookup(out.flag).NoOptDefVal = noValue
		}
	}
	flags.StringVar(&o.packageName, "package", "", "")
	flags.StringVar(&o.tokens, "tokens", "", "")
	flags.StringArrayVar(&o.markers, "marker", nil, "")
	flags.BoolVar(&o.check, "check", false, "")
	flags.StringVar(&o.against, "against", "", "")
	flags.StringVar(&o.allow, "allow", "", "")
	flags.StringSliceVar(&o.audience, "audience", breaking.Audiences, "")
	flags.StringVar(&o.diagnostics, "diagnostics", "text", "")
	flags.StringVar(&o.color, "color", "auto", "")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	flags.BoolVarP(&o.help, "help", "h", false, "")
	if err := flags.Parse(args); err != nil {
		return nil, flagError(flags, err)
	}
	// To compile a folder named help, pass ./help.
	if o.help = o.help || flags.NArg() == 1 && flags.Arg(0) == "help"; o.help || o.version {
		return &o, nil
	}
	if flags.NArg() > 0 && flags.Arg(0) == "explain" {
		if flags.NFlag() > 0 {
			return nil, errors.New("'cidlc explain' takes only codes, not flags; to compile a folder of that name, pass ./explain")
		}
		o.explain, o.codes = true, flags.Args()[1:]
		return &o, nil
	}
	// Check the values first, because a flag without a value consumes the folder argument.
	if err := o.validateValues(flags); err != nil {
		return nil, err
	}
	rest := flags.Args()
	if o.breaking = len(rest) > 0 && rest[0] == "breaking"; o.breaking {
		rest = rest[1:]
	}
	switch len(rest) {
	case 0:
		example := "cidlc idl/ --out-pack --out-provider"
		if o.breaking {
			example = "cidlc breaking --against=git:main idl/"
		}
		return nil, errors.New("pass the folder that contains the IDL, such as '" + example + "'; see 'cidlc --help'")
	case 1:
		o.idl = rest[0]
	default:
		return nil, tooMany(args, rest)
	}
	return &o, o.validate()
}

// validateValues returns an error for an invalid flag value.
func (o *options) validateValues(flags *pflag.FlagSet) error {
	for _, choice := range []struct {
		flag, value string
		among       []string
	}{
		{"tokens", o.tokens, []string{string(compile.TokensByModule), string(compile.TokensByFile)}},
		{"diagnostics", o.diagnostics, []string{"text", "json", "github"}},
		{"color", o.color, []string{"auto", "always", "never"}},
	} {
		if flags.Changed(choice.flag) && !slices.Contains(choice.among, choice.value) {
			return fmt.Errorf("--%s=%s: must be one of %s", choice.flag, choice.value, strings.Join(choice.among, ", "))
		}
	}
	unknown := func(audience string) bool { return !slices.Contains(breaking.Audiences, audience) }
	if len(o.audience) == 0 || slices.ContainsFunc(o.audience, unknown) {
		return fmt.Errorf("--audience=%s: must be a list of %s", strings.Join(o.audience, ","), strings.Join(breaking.Audiences, ", "))
	}
	if flags.Changed("package") && o.packageName == "" {
		return errors.New("--package= needs a value")
	}
	if slices.Contains(o.markers, "") {
		return errors.New("--marker= needs a value")
	}
	for _, t := range o.targets {
		if err := t.validate(); err != nil {
			return err
		}
	}
	o.targets = slices.DeleteFunc(o.targets, func(t *target) bool { return !t.asked })
	return nil
}

// validate returns an error for an invalid combination of flags.
func (o *options) validate() error {
	stdout := slices.IndexFunc(o.targets, (*target).stdout)
	switch {
	case o.idl == "":
		return errors.New("the IDL folder must not be empty")
	case o.breaking && (o.check || len(o.targets) > 0):
		return errors.New("'cidlc breaking' writes no files: remove --check and --out-…; to compile a folder of that name, pass ./breaking")
	case o.breaking && o.against == "":
		return errors.New("--against is required (a folder, a schema.json, or git:REF)")
	case !o.breaking && (o.against != "" || o.allow != "" || len(o.audience) < len(breaking.Audiences)):
		return errors.New("--against, --allow, and --audience are only for 'cidlc breaking'")
	case o.quiet && o.verbose:
		return errors.New("--quiet and --verbose cannot be combined")
	case o.check && stdout >= 0:
		return fmt.Errorf("--check needs a file to compare with instead of --%s=-", o.targets[stdout].flag)
	case o.check && len(o.targets) == 0:
		var flags []string
		for _, out := range outputs {
			flags = append(flags, "--"+out.flag)
		}
		last := len(flags) - 1
		return fmt.Errorf("--check needs output to compare with: %s, or %s; to check only the IDL, omit --check",
			strings.Join(flags[:last], ", "), flags[last])
	}
	return nil
}

// flagError adds a suggestion to an error from package pflag, or returns it unchanged.
func flagError(flags *pflag.FlagSet, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool" {
		return fmt.Errorf("--%s=%s: must be true or false", invalid.GetFlag().Name, invalid.GetValue())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	best := suggest.Name(unknown.GetSpecifiedName(), names)
	if best == "" || len(unknown.GetSpecifiedName()) < 2 {
		return fmt.Errorf("%w; 'cidlc --help' lists the flags", err)
	}
	return fmt.Errorf("%w; did you mean --%s?", err, best)
}

// tooMany returns the error for more than one folder argument. The usual cause is a space instead of an equals sign
// after a flag such as --out-pack.
func tooMany(args, folders []string) error {
	var better []string
	for i, arg := range args[:len(args)-1] {
		next := args[i+1]
		takesFolder := func(o *output) bool { return o.folder != "" && arg == "--"+o.flag }
		if slices.ContainsFunc(outputs, takesFolder) && !strings.HasPrefix(next, "-") {
			better = append(better, arg+"="+next)
		}
	}
	found := fmt.Sprintf("expected one IDL folder, got %d arguments: %s", len(folders), strings.Join(folders, ", "))
	if better == nil {
		return fmt.Errorf("%s; see 'cidlc --help'", found)
	}
	return fmt.Errorf("%s; write %s, with an equals sign", found, strings.Join(better, " "))
}
