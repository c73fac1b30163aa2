// Package words stands in a folder that is called like a word of TypeScript.
package words

// Word is a constant.
const Word = "class"
