package sqlite

import "io/fs"

var CheckVersion = checkVersion

func (o Options) WithMaxPages(n int) Options {
	o.maxPages = n
	return o
}

func (o Options) WithSchema(s fs.FS) Options {
	o.schema = s
	return o
}

func (o Options) WithNetwork(kind string) Options {
	o.network = func(string) string { return kind }
	return o
}
