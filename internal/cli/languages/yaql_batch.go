package languages

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
)

// serve evaluates the requests on standard input.
func (e *evaluator) serve(ctx context.Context) error {
	return serveLines(e.con, func(line []byte) []byte {
		value, err := reply(ctx, string(line))
		var text []byte
		if err == nil {
			text, err = jsonOf(object("value", value))
		}
		if err != nil {
			wrong := yaql.Errorf(yaql.Argument, "invalid request: %s", err)
			errors.As(err, &wrong)
			text, _ = jsonOf(object("error", object("kind", string(wrong.Kind), "message", wrong.Error())))
		}
		return text
	})
}

// serveLines prints one line in answer to each line of standard input.
func serveLines(con *console.Console, answer func([]byte) []byte) error {
	lines := bufio.NewScanner(con.Stdin)
	lines.Buffer(nil, lumigl.DefaultMaxSize)
	for lines.Scan() {
		con.Printf("%s\n", answer(lines.Bytes()))
		if con.Stdout.Flush() != nil {
			return nil // the error is reported when the command ends
		}
	}
	if err := lines.Err(); err != nil {
		return document.FileError(document.StdinName, err)
	}
	return nil
}

func object(pairs ...any) *yaql.Dict {
	d := yaql.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		_ = d.Set(pairs[i], pairs[i+1]) // string keys are always valid
	}
	return d
}

// reply evaluates a request line. If the request itself is invalid, the error is not a [*yaql.Error].
func reply(ctx context.Context, line string) (any, error) {
	if document.IsSigned(line) && json.Valid([]byte(line)) {
		line = document.SignedIn(line).Mask(line)
	}
	given, err := yaql.FromJSON([]byte(line))
	if err != nil {
		return nil, err
	}
	members, ok := given.(*yaql.Dict)
	if !ok {
		return nil, errors.New("must be an object")
	}
	known := map[string]any{"expression": nil, "data": nil, "variables": object(), "options": object()}
	for key, value := range members.All() {
		name := key.(string)
		if _, ok := known[name]; !ok {
			return nil, fmt.Errorf("unknown member %q", name)
		}
		if value != nil {
			known[name] = value
		}
	}
	expression, isText := known["expression"].(string)
	variables, areObjects := known["variables"].(*yaql.Dict)
	options, isObject := known["options"].(*yaql.Dict)
	switch {
	case !isText:
		return nil, errors.New(`"expression" must be a string`)
	case !areObjects || !isObject:
		return nil, errors.New(`"variables" and "options" must be objects`)
	}
	r, err := newRequest(known["data"], variables, options)
	if err != nil {
		return nil, err
	}
	return r.evaluate(ctx, expression)
}
