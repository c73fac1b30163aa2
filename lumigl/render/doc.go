// Package render draws graphs: [DOT] for Graphviz, [Mermaid] for pages written in Markdown, and [Page], a page of HTML
// that needs nothing else, in which people search, zoom and read.
//
// An arrow leads from what depends to what it depends on. Where a vertex refers to another several times, there is one
// arrow, with the paths of the properties that hold the references. Secrets are not drawn: no part of one gets into what
// is written. The same graph gives the same bytes.
package render
