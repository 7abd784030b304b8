-- Interface entries refer to the aggregate they are members of, and to the port they are units of. Both may be created
-- or removed with them, in any order.
ALTER TABLE if_entries ADD COLUMN lag_n INTEGER REFERENCES if_entries (n) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE if_entries ADD COLUMN parent_n INTEGER REFERENCES if_entries (n) DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX if_entries_by_lag ON if_entries (lag_n) WHERE lag_n IS NOT NULL;
CREATE INDEX if_entries_by_parent ON if_entries (parent_n) WHERE parent_n IS NOT NULL;
