package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// options are what the command line says.
type options struct {
	idl         string // the IDL's folder, as given
	pack        output
	provider    output
	schema      string
	packageName string
	tokens      string
	markers     []string
	check       bool
	diagnostics string
	color       string
	quiet       bool
	verbose     bool

	help, version bool
	explain       bool
	codes         []string // what is to be explained
}

// output is the value of a flag such as --out-pack[=DIR].
type output struct {
	asked bool
	dir   string // empty for the folder beside the IDL
}

// beside is what the flag is set to where it has no value. No argument of a process can hold a zero byte.
const beside = "\x00"

func (o *output) Set(value string) error {
	switch value {
	case "":
		return errors.New("there is no folder behind the '='")
	case beside:
		*o = output{asked: true}
	default:
		*o = output{asked: true, dir: value}
	}
	return nil
}

func (o *output) String() string { return o.dir }
func (o *output) Type() string   { return "DIR" }

// parseFlags reads the command line. Every error says what to write instead.
func parseFlags(args []string) (*options, error) {
	var o options
	flags := pflag.NewFlagSet("cidlc", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Var(&o.pack, "out-pack", "")
	flags.Var(&o.provider, "out-provider", "")
	flags.Lookup("out-pack").NoOptDefVal = beside
	flags.Lookup("out-provider").NoOptDefVal = beside
	flags.StringVar(&o.schema, "out-schema", "", "")
	flags.StringVar(&o.packageName, "package", "", "")
	flags.StringVar(&o.tokens, "tokens", string(compile.TokensByModule), "")
	flags.StringArrayVar(&o.markers, "marker", nil, "")
	flags.BoolVar(&o.check, "check", false, "")
	flags.StringVar(&o.diagnostics, "diagnostics", "text", "")
	flags.StringVar(&o.color, "color", "auto", "")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	flags.BoolVarP(&o.help, "help", "h", false, "")
	if err := flags.Parse(args); err != nil {
		return nil, flagError(flags, err)
	}
	// Whoever has a folder called help can say ./help.
	if o.help = o.help || flags.NArg() == 1 && flags.Arg(0) == "help"; o.help || o.version {
		return &o, nil
	}
	if flags.NArg() > 0 && flags.Arg(0) == "explain" {
		if flags.NFlag() > 0 {
			return nil, errors.New("'cidlc explain' takes codes only, no flags; a folder of that name is ./explain")
		}
		o.explain, o.codes = true, flags.Args()[1:]
		return &o, nil
	}
	// Before the folder is looked for: a flag without the value it needs has swallowed it.
	if err := o.judgeValues(flags); err != nil {
		return nil, err
	}
	switch flags.NArg() {
	case 0:
		return nil, errors.New("give the folder that holds the IDL, such as 'cidlc idl/ --out-pack --out-provider'; " +
			"'cidlc --help' says more")
	case 1:
		o.idl = flags.Arg(0)
	default:
		return nil, tooMany(args, flags.Args())
	}
	return &o, o.judge()
}

// judgeValues finds values of flags that make no sense.
func (o *options) judgeValues(flags *pflag.FlagSet) error {
	for _, choice := range []struct {
		flag, value string
		among       []string
	}{
		{"tokens", o.tokens, []string{string(compile.TokensByModule), string(compile.TokensByFile)}},
		{"diagnostics", o.diagnostics, []string{"text", "json"}},
		{"color", o.color, []string{"auto", "always", "never"}},
	} {
		if !slices.Contains(choice.among, choice.value) {
			return fmt.Errorf("--%s=%s: it can be %s", choice.flag, choice.value, strings.Join(choice.among, " or "))
		}
	}
	for _, name := range []string{"out-schema", "package"} {
		if f := flags.Lookup(name); f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s= has no value", name)
		}
	}
	if slices.Contains(o.markers, "") {
		return errors.New("--marker= has no value")
	}
	switch filepath.Ext(o.schema) {
	case ".go", ".ts":
		return fmt.Errorf("--out-schema=%s: the schema is JSON, and would take the place of source code", o.schema)
	}
	return nil
}

// judge finds combinations of flags that make no sense.
func (o *options) judge() error {
	switch {
	case o.idl == "":
		return errors.New("the folder that holds the IDL is an empty argument")
	case o.quiet && o.verbose:
		return errors.New("--quiet and --verbose contradict each other")
	case o.check && o.schema == "-":
		return errors.New("--check compares with a file: give one in place of --out-schema=-")
	case o.check && !o.pack.asked && !o.provider.asked && o.schema == "":
		return errors.New("--check compares with what is there: say where, with --out-pack, --out-provider or " +
			"--out-schema; without --check and these, the IDL alone is checked")
	}
	return nil
}

// flagError adds to an error of package pflag what was probably meant.
func flagError(flags *pflag.FlagSet, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool" {
		return fmt.Errorf("--%s=%s: it can be true or false", invalid.GetFlag().Name, invalid.GetValue())
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

// tooMany is the error for more than one folder. The usual reason is a space where --out-pack needs an equals sign.
func tooMany(args, folders []string) error {
	var better []string
	for i, arg := range args[:len(args)-1] {
		next := args[i+1]
		if (arg == "--out-pack" || arg == "--out-provider") && !strings.HasPrefix(next, "-") {
			better = append(better, arg+"="+next)
		}
	}
	found := fmt.Sprintf("there is one IDL folder, but %d arguments: %s", len(folders), strings.Join(folders, ", "))
	if better == nil {
		return fmt.Errorf("%s; 'cidlc --help' says more", found)
	}
	return fmt.Errorf("%s; write %s, with an equals sign", found, strings.Join(better, " "))
}
