package render

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// MaxPageVertices is the maximum number of vertices on a page.
const MaxPageVertices = 20_000

// TooLargeError reports a graph with more than [MaxPageVertices] vertices.
type TooLargeError struct{ Vertices int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("too many vertices for a page: %d, the maximum is %d", e.Vertices, MaxPageVertices)
}

//go:embed page
var pageFiles embed.FS

// pageScripts lists the files of the page's script in loading order.
var pageScripts = []string{"graph.js", "view.js", "draw.js", "search.js", "details.js", "main.js"}

func pageFile(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // impossible, since the file is embedded
	}
	return string(text)
}

// Page writes a graph as an interactive HTML page. The page is self-contained, and its content security policy prevents
// it from loading anything else. Page returns a *[TooLargeError] if the graph has more than [MaxPageVertices] vertices.
func Page(w io.Writer, doc lumigl.Document, o Options) error {
	o.Cluster = NoCluster
	d := draw(doc, o)
	if len(d.vertices) > MaxPageVertices {
		return &TooLargeError{len(d.vertices)}
	}
	data, err := d.pageData()
	if err != nil {
		return err
	}
	var script strings.Builder
	script.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range pageScripts {
		script.WriteString(pageFile(name))
	}
	script.WriteString("})();\n")
	style := pageFile("style.css")
	_, err = strings.NewReplacer(
		"{{policy}}", "default-src 'none'; script-src "+hashSource(script.String())+"; style-src "+hashSource(style)+
			"; img-src data:; base-uri 'none'; form-action 'none'",
		"{{title}}", html.EscapeString(visible(d.title)),
		"{{style}}", style,
		"{{script}}", script.String(),
		"{{data}}", string(data),
	).WriteString(w, pageFile("page.html"))
	return err
}

// hashSource returns the source expression of an inline script or style for a content security policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
