package content

import (
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// place is the location of content outside the program, a path or a URI.
type place struct {
	// path is the path of a file or folder, or "" for remote content.
	path string
	// uri is the URI, or nil if the location is given as a path.
	uri *url.URL
}

// located is implemented by assets and archives. It is not used for archives created by [lumi.AssetArchive].
type located interface {
	Path() (string, bool)
	URI() (string, bool)
}

var errAbsent = errors.New("no content: the asset or archive is absent")

func placeOf(c located) (place, error) {
	if path, ok := c.Path(); ok {
		return place{path: path}, nil
	}
	uri, ok := c.URI()
	if !ok {
		return place{}, errAbsent
	}
	return parseURI(uri)
}

// parseURI parses and validates a URI without accessing its content.
func parseURI(uri string) (place, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return place{}, errors.New("the URI is malformed") // err quotes the URI, which may contain credentials.
	}
	p := place{uri: u}
	switch u.Scheme {
	case "http", "https":
		if u.Hostname() == "" {
			return place{}, p.failed(errors.New("the URI has no host"))
		}
		return p, nil
	case "file":
		if err := fileURI(u); err != nil {
			return place{}, p.failed(err)
		}
		p.path = filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			p.path = strings.TrimPrefix(p.path, `\`) // from \C:\folder
		}
		return p, nil
	case "":
		return place{}, p.failed(errors.New("only file:, http: and https: URIs can be opened; give the path of a file as a path"))
	}
	return place{}, p.failed(errors.New("only file:, http: and https: URIs can be opened"))
}

// fileURI returns an error if a file: URI is not supported.
func fileURI(u *url.URL) error {
	switch {
	case u.Host != "" && u.Host != "localhost":
		return errors.New("a file: URI must not name a host; write file:///folder/file")
	case !strings.HasPrefix(u.Path, "/"):
		return errors.New("the path of a file: URI must be absolute, as in file:///folder/file")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("a file: URI must not have a query or fragment; write ? as %3F and # as %23")
	}
	return nil
}

func (p place) isRemote() bool { return p.path == "" && p.uri != nil }

// String returns the quoted path or URI, without credentials.
func (p place) String() string {
	if p.uri == nil {
		return quote(p.path)
	}
	shown := *p.uri
	shown.User, shown.Fragment, shown.RawFragment = nil, "", ""
	if strings.Contains(shown.Opaque, "@") { // such as user:password@host/file, without a scheme
		shown.Opaque = "…"
	}
	if shown.RawQuery != "" {
		shown.RawQuery = "…"
	}
	return quote(shown.String())
}
