// Package s3 describes the storage of objects in buckets.
package s3
