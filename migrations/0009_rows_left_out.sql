-- Rows of a telling that are not kept, as a JSON object of counts by table and reason: told again with the same telling. Null where there are none.
ALTER TABLE discovery_tellings ADD COLUMN left_out TEXT;
