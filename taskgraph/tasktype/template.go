package tasktype

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"text/template"
)

// maxTemplate is the maximum size of a template and of its result, in bytes.
const maxTemplate = 16 << 20

// render executes a template in the workspace on the data of the node. It returns the result and the mode of the file.
func (c *Call) render(ctx context.Context, from *sources, name string) (io.Reader, fs.FileMode, error) {
	file, err := from.open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if file.info.IsDir() {
		return nil, 0, fmt.Errorf("template %s: not a file", name)
	}
	if file.info.Size() > maxTemplate {
		return nil, 0, fmt.Errorf("template %s: larger than %d bytes", name, maxTemplate)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, 0, err
	}
	data, err := c.Data()
	if err != nil {
		return nil, 0, err
	}
	var result bytes.Buffer
	if err := t.Execute(&limited{ctx, &result}, data); err != nil {
		return nil, 0, err
	}
	return &result, file.info.Mode().Perm(), nil
}

// limited is a writer that fails if ctx is done or if the result becomes too large.
type limited struct {
	ctx    context.Context
	result *bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	if l.result.Len()+len(p) > maxTemplate {
		return 0, fmt.Errorf("the result is larger than %d bytes", maxTemplate)
	}
	return l.result.Write(p)
}
