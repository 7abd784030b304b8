-- Where the requests of an API key may come from: CIDRs, a JSON array; NULL for everywhere, as it is of all keys there
-- are. The few rows of keys are made anew; nothing else is read.
ALTER TABLE api_keys ADD COLUMN allowed_sources TEXT;
