-- What an organization keeps of its records beyond their own fields.
CREATE TABLE custom_fields (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX custom_fields_by_organization ON custom_fields (organization_n);
