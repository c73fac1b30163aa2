-- +goose Up
CREATE TABLE worker (
  environment TEXT NOT NULL REFERENCES environment ON DELETE CASCADE,
  owner TEXT NOT NULL, host TEXT NOT NULL, boot TEXT NOT NULL, seen INTEGER, draining INTEGER NOT NULL,
  PRIMARY KEY (environment, owner)
) STRICT, WITHOUT ROWID;
