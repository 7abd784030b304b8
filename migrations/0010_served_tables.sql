-- What the agents of hosts have told of so far: a table that one does not serve any more is told from one it never had.
CREATE TABLE discovery_served (
  host_n        INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- The kind of agent that did; null where it has not said.
  sys_object_id TEXT,
  -- JSON array of scalars and columns: "if_x_table.ifHighSpeed".
  columns       TEXT NOT NULL,
  -- JSON object of those that are missing: name to {"since": milliseconds since 1970, "readings": count}. What is here
  -- and not among the columns counts as empty.
  missed        TEXT NOT NULL,
  -- As of every table beside the ledger.
  checksum      INTEGER NOT NULL
) STRICT;
