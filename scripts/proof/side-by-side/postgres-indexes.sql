-- Indexes, created after the rows, as after any bulk load. Each serves a query: an ordered page, the count, the versions
-- of a record, a diff.

CREATE INDEX if_entries_by_organization ON if_entries (organization_id, id);
CREATE INDEX if_entries_by_network ON if_entries (network_id, id);
CREATE INDEX if_entries_by_start ON if_entries (lower(period));
CREATE INDEX if_entries_history_by_period ON if_entries_history USING gist (network_id, period);
CREATE INDEX if_entries_history_by_record ON if_entries_history (network_id, id, lower(period));
CREATE INDEX if_entries_history_by_start ON if_entries_history (lower(period));
CREATE INDEX if_entries_history_by_end ON if_entries_history (upper(period));
CREATE INDEX if_entry_totals_history_by_period ON if_entry_totals_history USING gist (network_id, period);

-- Totals at every timestamp, from the creations of the records (none of the loaded ones was deleted).
WITH births AS (
  SELECT network_id, organization_id, created_at AS at, count(*) AS born FROM if_entries GROUP BY 1, 2, 3
), sums AS (
  SELECT network_id, organization_id, sum(born) OVER w AS total, at, lead(at) OVER w AS until FROM births WINDOW w AS (PARTITION BY network_id ORDER BY at)
), past AS (
  INSERT INTO if_entry_totals_history SELECT network_id, organization_id, total, tstzrange(at, until) FROM sums WHERE until IS NOT NULL
)
INSERT INTO if_entry_totals SELECT network_id, organization_id, total, tstzrange(at, NULL) FROM sums WHERE until IS NULL;

CREATE TRIGGER if_entries_version_insert BEFORE INSERT ON if_entries FOR EACH ROW EXECUTE FUNCTION if_entries_version();
CREATE TRIGGER if_entries_version_update BEFORE UPDATE ON if_entries FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION if_entries_version();
CREATE TRIGGER if_entries_version_delete BEFORE DELETE ON if_entries FOR EACH ROW EXECUTE FUNCTION if_entries_version();
CREATE TRIGGER if_entries_totals_insert AFTER INSERT ON if_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION if_entries_totals();
CREATE TRIGGER if_entries_totals_delete AFTER DELETE ON if_entries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION if_entries_totals();

-- Frozen, so that index-only scans read no heap pages, and with reliable statistics for the planner.
VACUUM (FREEZE, ANALYZE);
