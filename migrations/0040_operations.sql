-- The appliance's own state, outside the ledger.

-- Facts about the appliance itself, such as its own host record in a network.
CREATE TABLE appliance_settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Outcomes of requests with an Idempotency-Key, for a day.
CREATE TABLE idempotency_keys (
  caller_n INTEGER NOT NULL REFERENCES history_records (n),
  -- SHA-256 of caller and key: clients may send secrets as keys.
  key      TEXT NOT NULL,
  -- UTC milliseconds.
  at       INTEGER NOT NULL,
  -- Encrypted, since an outcome may contain a secret.
  sealed   BLOB NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (caller_n, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_at ON idempotency_keys (at);
