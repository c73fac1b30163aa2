// Package content reads what assets and archives stand for: texts, files, folders, archive files, and what is behind an
// address. A provider opens an asset with [Open] and goes through an archive with [Walk], or turns that into the zip
// file that its cloud wants with [WriteZip]. Everything is a stream: no content is held in memory as a whole.
//
// [Stamp] is for those who stand before a provider, as package serve does: it finds the assets and archives in a bag of
// properties, sees that they are there, and writes their hashes beside them, so that a file whose content changed is a
// change.
//
// Content at http and https URIs has limits on its size, on time and on redirects, and archive files on what they unpack
// to; docs/assets.md lists them. The errors name the URI or path, without credentials, and the limit.
//
// Relative paths start from the process's working directory. An engine starts plugins in the program's folder.
package content
