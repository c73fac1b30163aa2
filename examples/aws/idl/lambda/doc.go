// Package lambda describes functions that run when something happens, without a machine to look after.
package lambda
