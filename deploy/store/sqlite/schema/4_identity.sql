-- +goose Up
-- The file that the database was last used in, so that copies and restored backups are recognized. It is '' in a backup.
CREATE TABLE identity (file TEXT NOT NULL) STRICT;
