-- @ precedes the name of each table, and is replaced by the schema. Times are in microseconds since 1970, or NULL if zero.
-- Text that is sorted or compared has the collation "C", the order of bytes.
CREATE TABLE @identity (database text NOT NULL);

-- The last transaction of each connection under each lock, from which a process learns whether a commit without an answer was made.
-- pg_xact_status cannot tell: after a crash, the server may use the number of a lost transaction again. seen is in seconds.
CREATE TABLE @outcome (
  lock bigint NOT NULL, session text NOT NULL, number bigint NOT NULL, seen bigint NOT NULL, PRIMARY KEY (lock, session)
) WITH (fillfactor = 50);

CREATE TABLE @environment (
  name text COLLATE "C" PRIMARY KEY, lineage text NOT NULL, key text NOT NULL, serial bigint NOT NULL, last bigint NOT NULL
);

CREATE TABLE @vertex (
  environment text COLLATE "C" NOT NULL REFERENCES @environment ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL, text text NOT NULL,
  PRIMARY KEY (environment, key)
);

-- uses is a JSON array of strings.
CREATE TABLE @deployment (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment text COLLATE "C" NOT NULL REFERENCES @environment ON DELETE CASCADE,
  number bigint NOT NULL, module text NOT NULL, purpose text NOT NULL, uses text NOT NULL,
  place bigint NOT NULL, state text NOT NULL, fence bigint NOT NULL, owner text NOT NULL, expires bigint,
  abort boolean NOT NULL, message text NOT NULL, created bigint, ended bigint
);
CREATE INDEX history ON @deployment (environment, id);
CREATE INDEX queue ON @deployment (environment, place, id) WHERE state NOT IN ('DONE', 'ABORTED', 'CANCELLED', 'SUPERSEDED');

CREATE TABLE @content (
  deployment bigint PRIMARY KEY REFERENCES @deployment ON DELETE CASCADE,
  desired text NOT NULL, shown text NOT NULL, request text NOT NULL
);

CREATE TABLE @task (
  deployment bigint NOT NULL REFERENCES @deployment ON DELETE CASCADE, number bigint NOT NULL,
  provisioner text NOT NULL, steps bigint NOT NULL, state text NOT NULL, token text NOT NULL, parts bigint NOT NULL,
  message text NOT NULL, PRIMARY KEY (deployment, number)
);

CREATE TABLE @step (
  deployment bigint NOT NULL REFERENCES @deployment ON DELETE CASCADE, number bigint NOT NULL,
  task bigint NOT NULL, state text NOT NULL, kind text NOT NULL, urn text NOT NULL, oldkey text NOT NULL,
  oldid text NOT NULL, new text NOT NULL, token text NOT NULL, owner text NOT NULL, deadline bigint, message text NOT NULL,
  PRIMARY KEY (deployment, number)
);

CREATE TABLE @event (
  serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment text COLLATE "C" NOT NULL REFERENCES @environment ON DELETE CASCADE,
  time bigint, deployment bigint NOT NULL, name text NOT NULL, task bigint NOT NULL, urn text NOT NULL, source text NOT NULL,
  kind text NOT NULL, was text NOT NULL, id text NOT NULL, state text NOT NULL, level text NOT NULL, message text NOT NULL
);
CREATE INDEX events ON @event (environment, serial);
CREATE INDEX deployment_events ON @event (deployment, serial);

CREATE TABLE @worker (
  environment text COLLATE "C" NOT NULL REFERENCES @environment ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL, host text NOT NULL, boot text NOT NULL, seen bigint, draining boolean NOT NULL,
  PRIMARY KEY (environment, owner)
);

-- Releases and plugins.
CREATE TABLE @release (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, layer text NOT NULL, name text NOT NULL, version text NOT NULL,
  UNIQUE (layer, name, version)
);

-- plugins and layers are JSON arrays.
CREATE TABLE @selection (
  environment text COLLATE "C" PRIMARY KEY REFERENCES @environment ON DELETE CASCADE,
  release bigint NOT NULL, plugins text NOT NULL, layers text NOT NULL, whole boolean NOT NULL
);

-- A graph belongs to a release, a plugin, or an environment. tasks is a JSON array of IDs.
CREATE TABLE @graph (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, layer text NOT NULL,
  release bigint REFERENCES @release ON DELETE CASCADE,
  environment text COLLATE "C" REFERENCES @environment ON DELETE CASCADE,
  type text NOT NULL, name text NOT NULL, tasks text NOT NULL,
  CHECK ((release IS NULL) <> (environment IS NULL)), UNIQUE (release, type), UNIQUE (environment, type)
);

CREATE TABLE @graphtask (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, graph bigint NOT NULL REFERENCES @graph ON DELETE CASCADE,
  name text NOT NULL, content text NOT NULL, UNIQUE (graph, name)
);

CREATE TABLE @taskrun (
  run bigint NOT NULL REFERENCES @deployment ON DELETE CASCADE, number bigint NOT NULL,
  task text COLLATE "C" NOT NULL, node text COLLATE "C" NOT NULL, state text NOT NULL, digest text NOT NULL, refresh text NOT NULL,
  owner text NOT NULL, attempt bigint NOT NULL, started bigint, ended bigint, message text NOT NULL, tolerated boolean NOT NULL,
  PRIMARY KEY (run, number)
);

-- The latest row of taskrun, except skipped ones, for each task and node.
CREATE TABLE @lasttaskrun (
  environment text COLLATE "C" NOT NULL REFERENCES @environment ON DELETE CASCADE, type text NOT NULL,
  task text COLLATE "C" NOT NULL, node text COLLATE "C" NOT NULL, run bigint NOT NULL, number bigint NOT NULL,
  PRIMARY KEY (environment, type, task, node)
);
