-- Subnets say whether credentials may be sent to what lies in them, and hosts have an asset tag. Both are fields of the records: every
-- version of before has them by its kind's upcaster, and the live rows are made anew by it within this migration.

ALTER TABLE subnets ADD COLUMN accepts_credentials INTEGER NOT NULL DEFAULT 0 CHECK (accepts_credentials IN (0, 1));
