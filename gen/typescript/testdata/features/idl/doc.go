// Package features uses every feature of the IDL once.
//
// This file declares nothing; its documentation ends here: */ or not.
package features
