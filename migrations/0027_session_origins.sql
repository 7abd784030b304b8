-- Where each session was last used from, and by what, so that its user can tell one from another; NULL until a session
-- from before is used again. Its checksum counts them in from here on (src/history/upgrade.ts).
ALTER TABLE sessions ADD COLUMN last_used_from TEXT;
ALTER TABLE sessions ADD COLUMN user_agent TEXT;
