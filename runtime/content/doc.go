// Package content reads the content of assets and archives: text, files, folders, archive files, and remote content.
// Providers open an asset with [Open] and iterate over an archive with [Walk], or convert it with [WriteZip] to the
// zip file that most clouds expect. All content is streamed and never held in memory as a whole.
//
// [Stamp] is for callers of providers, such as package serve. It finds the assets and archives in a bag of properties,
// checks that they exist, and adds their hashes, so that a diff detects files with changed content.
//
// Remote content is limited in size, time, and number of redirects, and archive files in unpacked size; docs/assets.md
// lists the limits. Errors contain the URI or path, without credentials, and the limit that was exceeded.
//
// Relative paths are resolved against the process's working directory. An engine starts plugins in the program's
// folder.
package content
