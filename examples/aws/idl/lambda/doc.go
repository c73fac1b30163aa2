// Package lambda defines serverless functions.
package lambda
