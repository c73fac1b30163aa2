// Package s3 defines object storage in buckets.
package s3
