-- A version may be kept as what differs from an earlier one of its record (src/db/packing.ts). Versions of before stay
-- whole until `netledger compact`. NULL: the version is whole. Else its base's sequence << 32, and how many bytes of the
-- base's members stand before (<< 16) and after what is in `members`. SQLite reads the table once to add it.
ALTER TABLE history_versions ADD COLUMN patch INTEGER;
