-- +goose Up
-- Releases and plugins.
CREATE TABLE release (
  id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
  UNIQUE (layer, name, version)
) STRICT;

-- plugins and layers are JSON arrays.
CREATE TABLE selection (
  environment TEXT PRIMARY KEY REFERENCES environment ON DELETE CASCADE,
  release INTEGER NOT NULL, plugins TEXT NOT NULL, layers TEXT NOT NULL, whole INTEGER NOT NULL
) STRICT;

-- A graph belongs to a release, a plugin or an environment. tasks is a JSON array of IDs.
CREATE TABLE graph (
  id INTEGER PRIMARY KEY AUTOINCREMENT, layer TEXT NOT NULL,
  release INTEGER REFERENCES release ON DELETE CASCADE, environment TEXT REFERENCES environment ON DELETE CASCADE,
  type TEXT NOT NULL, name TEXT NOT NULL, tasks TEXT NOT NULL,
  CHECK ((release IS NULL) <> (environment IS NULL)), UNIQUE (release, type), UNIQUE (environment, type)
) STRICT;

CREATE TABLE graphtask (
  id INTEGER PRIMARY KEY AUTOINCREMENT, graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE,
  name TEXT NOT NULL, content TEXT NOT NULL, UNIQUE (graph, name)
) STRICT;

CREATE TABLE taskrun (
  run INTEGER NOT NULL REFERENCES deployment ON DELETE CASCADE, number INTEGER NOT NULL,
  task TEXT NOT NULL, node TEXT NOT NULL, state TEXT NOT NULL, digest TEXT NOT NULL, refresh TEXT NOT NULL,
  owner TEXT NOT NULL, attempt INTEGER NOT NULL, started INTEGER, ended INTEGER, message TEXT NOT NULL,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The latest row of taskrun, except skipped ones, for each task and node. Finding these rows by query takes seconds after
-- 50 runs of 10,000 task runs.
CREATE TABLE lasttaskrun (
  environment TEXT NOT NULL REFERENCES environment ON DELETE CASCADE, type TEXT NOT NULL, task TEXT NOT NULL, node TEXT NOT NULL,
  run INTEGER NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY (environment, type, task, node)
) STRICT, WITHOUT ROWID;
