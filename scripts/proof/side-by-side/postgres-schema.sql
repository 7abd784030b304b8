-- Inventory of the competitor: live table and history table ("temporal twins"), each version with its period as
-- tstzrange. Columns instead of documents, as is common, plus the additions of a competent DBA for these queries.

CREATE EXTENSION btree_gist;

CREATE TABLE api_keys (
  hash            bytea PRIMARY KEY,
  organization_id uuid NOT NULL,
  is_enabled      boolean NOT NULL DEFAULT true,
  expires_at      timestamptz
);

CREATE TABLE hosts (
  id              uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  network_id      uuid NOT NULL,
  name            text NOT NULL
);

CREATE TABLE if_entries (
  id                 uuid PRIMARY KEY,
  organization_id    uuid NOT NULL,
  network_id         uuid NOT NULL,
  host_id            uuid NOT NULL REFERENCES hosts (id),
  if_index           integer NOT NULL,
  if_type            integer NOT NULL,
  speed_bps          bigint,
  created_at         timestamptz NOT NULL,
  last_seen_at       timestamptz,
  first_discovery_id uuid,
  last_discovery_id  uuid,
  -- A live row has no upper bound; 'infinity' would be a date.
  period             tstzrange NOT NULL,
  mac_address        macaddr,
  admin_status       text NOT NULL,
  oper_status        text NOT NULL,
  if_descr           text NOT NULL,
  if_name            text,
  if_alias           text,
  -- json instead of jsonb: the value is only stored and returned, and json is returned verbatim.
  lldp_chassis_id    json,
  lldp_port_id       json,
  lldp_sys_name      text,
  lldp_port_desc     text,
  UNIQUE (host_id, if_index)
);

CREATE TABLE if_entries_history (LIKE if_entries);

-- Exact totals are maintained, since count(*) over a network makes lists slow: live, and as versions like all other
-- data.
CREATE TABLE if_entry_totals (network_id uuid PRIMARY KEY, organization_id uuid NOT NULL, total bigint NOT NULL, period tstzrange NOT NULL);
CREATE TABLE if_entry_totals_history (LIKE if_entry_totals);

CREATE FUNCTION if_entries_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- Must be later than the version it ends, even if transactions reach the row in another order than they started.
  at timestamptz := date_trunc('milliseconds', clock_timestamp());
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.period := tstzrange(coalesce(lower(NEW.period), at), NULL);
    RETURN NEW;
  END IF;
  at := greatest(at, lower(OLD.period) + interval '1 millisecond');
  OLD.period := tstzrange(lower(OLD.period), at);
  INSERT INTO if_entries_history VALUES (OLD.*);
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  NEW.period := tstzrange(at, NULL);
  RETURN NEW;
END $$;

CREATE FUNCTION if_entries_totals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := date_trunc('milliseconds', clock_timestamp());
  factor integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO if_entry_totals_history
    SELECT t.network_id, t.organization_id, t.total, tstzrange(lower(t.period), greatest(at, lower(t.period) + interval '1 millisecond'))
    FROM if_entry_totals t WHERE t.network_id IN (SELECT network_id FROM changed);
  INSERT INTO if_entry_totals AS t
    SELECT network_id, organization_id, factor * count(*), tstzrange(at, NULL) FROM changed GROUP BY network_id, organization_id
    ON CONFLICT (network_id) DO UPDATE SET total = t.total + excluded.total, period = tstzrange(greatest(at, lower(t.period) + interval '1 millisecond'), NULL);
  RETURN NULL;
END $$;
