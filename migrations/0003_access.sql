-- Users and API keys are records with history; their hashes and sessions are not.

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
  hash TEXT NOT NULL
) STRICT;

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
  members TEXT NOT NULL
) STRICT;
CREATE INDEX api_keys_by_organization ON api_keys (organization_n);
CREATE INDEX api_keys_by_user ON api_keys (user_n);

CREATE TABLE api_key_hashes (
  hash BLOB PRIMARY KEY,
  api_key_n INTEGER NOT NULL UNIQUE REFERENCES api_keys (n) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  hash BLOB PRIMARY KEY,
  user_n INTEGER NOT NULL REFERENCES users (n) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_n);

-- Facts of the appliance itself (which host record it is in a network), not of the inventory.
CREATE TABLE appliance_settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
