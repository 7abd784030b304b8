-- Users and their API keys, which are records with history, and what signs them in, which has none.

CREATE TABLE users (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('Owner', 'Admin', 'Member', 'Viewer')),
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX users_by_organization ON users (organization_n);

CREATE TABLE user_passwords (
  user_n INTEGER PRIMARY KEY REFERENCES users (n) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Settings of a user's client, such as the columns of a list: a JSON object.
CREATE TABLE user_preferences (
  user_n      INTEGER PRIMARY KEY REFERENCES users (n) ON DELETE CASCADE,
  preferences TEXT NOT NULL,
  -- Number of writes, so that no two states share an entity tag.
  revision    INTEGER NOT NULL,
  checksum    INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  -- Of the token.
  hash BLOB PRIMARY KEY,
  user_n INTEGER NOT NULL REFERENCES users (n) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  -- Address and client of the last use, by which users tell their sessions apart.
  last_used_from TEXT,
  user_agent TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_n);

CREATE TABLE api_keys (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  user_n INTEGER NOT NULL REFERENCES users (n),
  permissions TEXT NOT NULL CHECK (permissions IN ('Owner', 'Admin', 'Member', 'Viewer')),
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  all_networks INTEGER NOT NULL CHECK (all_networks IN (0, 1)),
  -- UTC milliseconds; NULL for never.
  expires_at INTEGER,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL,
  -- Addresses that it may be used from: a JSON array of CIDRs; NULL for all.
  allowed_sources TEXT
) STRICT;
CREATE INDEX api_keys_by_organization ON api_keys (organization_n);
CREATE INDEX api_keys_by_user ON api_keys (user_n);

CREATE TABLE api_key_hashes (
  hash BLOB PRIMARY KEY,
  api_key_n INTEGER NOT NULL UNIQUE REFERENCES api_keys (n) ON DELETE CASCADE,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
