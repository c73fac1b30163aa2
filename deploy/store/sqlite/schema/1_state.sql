-- +goose Up
-- Times are in microseconds since 1970, or NULL if zero.
PRAGMA application_id = 1282764137; -- "Lumi"

CREATE TABLE environment (
  name TEXT PRIMARY KEY, lineage TEXT NOT NULL, key TEXT NOT NULL, serial INTEGER NOT NULL, last INTEGER NOT NULL
) STRICT;

-- WITHOUT ROWID stores rows in reading order, which is five times as fast.
CREATE TABLE vertex (
  environment TEXT NOT NULL REFERENCES environment ON DELETE CASCADE,
  key TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (environment, key)
) STRICT, WITHOUT ROWID;

-- uses is a JSON array of strings.
CREATE TABLE deployment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  environment TEXT NOT NULL REFERENCES environment ON DELETE CASCADE,
  number INTEGER NOT NULL, module TEXT NOT NULL, purpose TEXT NOT NULL, uses TEXT NOT NULL,
  place INTEGER NOT NULL, state TEXT NOT NULL, fence INTEGER NOT NULL, owner TEXT NOT NULL, expires INTEGER,
  abort INTEGER NOT NULL, message TEXT NOT NULL, created INTEGER, ended INTEGER
) STRICT;
CREATE INDEX history ON deployment (environment, id);
CREATE INDEX queue ON deployment (environment, place, id) WHERE state NOT IN ('DONE', 'ABORTED', 'CANCELLED', 'SUPERSEDED');

CREATE TABLE content (
  deployment INTEGER PRIMARY KEY REFERENCES deployment ON DELETE CASCADE,
  desired TEXT NOT NULL, shown TEXT NOT NULL, request TEXT NOT NULL
) STRICT;

CREATE TABLE task (
  deployment INTEGER NOT NULL REFERENCES deployment ON DELETE CASCADE, number INTEGER NOT NULL,
  provisioner TEXT NOT NULL, steps INTEGER NOT NULL, state TEXT NOT NULL, token TEXT NOT NULL, parts INTEGER NOT NULL,
  message TEXT NOT NULL, PRIMARY KEY (deployment, number)
) STRICT;

CREATE TABLE step (
  deployment INTEGER NOT NULL REFERENCES deployment ON DELETE CASCADE, number INTEGER NOT NULL,
  task INTEGER NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL, urn TEXT NOT NULL, oldkey TEXT NOT NULL,
  oldid TEXT NOT NULL, new TEXT NOT NULL, token TEXT NOT NULL, owner TEXT NOT NULL, deadline INTEGER, message TEXT NOT NULL,
  PRIMARY KEY (deployment, number)
) STRICT;

CREATE TABLE event (
  serial INTEGER PRIMARY KEY AUTOINCREMENT,
  environment TEXT NOT NULL REFERENCES environment ON DELETE CASCADE,
  time INTEGER, deployment INTEGER NOT NULL, name TEXT NOT NULL, task INTEGER NOT NULL, urn TEXT NOT NULL,
  kind TEXT NOT NULL, was TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, level TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
CREATE INDEX events ON event (environment, serial);
CREATE INDEX deployment_events ON event (deployment, serial);
